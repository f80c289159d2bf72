"""What a program returns: its own `return`, else the value of its last expression or of the function it hands over.

The last expression is looked for at the end of the top level and, from there, in both branches of a final `if`, in a
final block and in a final `try` with its `catch`; a loop and a `switch` have no value. A final declaration gives the
value it declares. A function that the program hands over (bare, exported, immediately called, or `main()`) gets the
same treatment inside.
"""

from tree_sitter import Node

from mcp_server.codemode.source.draft import Draft
from mcp_server.codemode.source.errors import SourceError
from mcp_server.codemode.source.functions import Function, Functions, arguments_for, is_log, unwrap
from mcp_server.codemode.source.statements import (
    bound_names,
    declaration_of,
    exported_expression,
    expression_of,
    is_export_list,
    is_object,
    last_statement,
)
from mcp_server.codemode.source.syntax import FUNCTIONS, Syntax, children, end, start
from mcp_server.codemode.source.text import Text

_EMPTY = "There is nothing to run: the program is empty. Send statements that end with `return value;`."
_ONLY_TYPES = (
    "There is nothing to run: the program only declares types or classes. Call the tools and return a value."
)
_SHOWN_NAMES = 5
_EXPORTS = frozenset({"module.exports", "exports.default", "exports.main"})


class ValueFinder:
    """Rewrites a program into the body of an async function that returns its value.

    Args:
        program: JavaScript, its types already blanked.
        source: the text it came from, for positions.
    """

    def __init__(self, program: Syntax, source: Text) -> None:
        self.program = program
        self.source = source
        self.draft = Draft(program.units)
        self.given_back: set[int] = set()
        self._statements = [node for node in children(program.root) if node.type != "hash_bang_line"]
        self._functions = Functions(program, self._statements)
        self._waiting: list[Node | None] = []
        self._visited: set[int] = set()

    def run(self) -> None:
        """Record the changes in `draft`, and in `given_back` where the expressions begin that will be returned.

        Raises:
            SourceError: "nothing_to_run", or "never_called" for functions that nothing calls.
        """
        if self.program.has_error:
            self._finish(last_statement(self._statements))
        elif all(statement.type == "empty_statement" for statement in self._statements):
            raise self.source.error("nothing_to_run", 0, _ONLY_TYPES if self._statements else _EMPTY)
        else:
            self._finish_program()
        for statement in self._statements:
            self._unexport(statement)

    def _finish_program(self) -> None:
        last = last_statement(self._statements)
        default = next((node for node in self._statements if exported_expression(node) is not None), None)
        if default is not None and default != last:
            self._name_default(default)
            return
        expression = expression_of(last)
        says_value = default is not None or (expression is not None and not is_log(self.program, expression))
        if says_value or self._functions.do_work:
            self._finish(last)
        elif self._functions.all:
            self._call_entry(last)
        elif last is None:
            raise self.source.error("nothing_to_run", start(self._statements[0]), _ONLY_TYPES)
        else:
            self._finish(last)

    def _name_default(self, default: Node) -> None:
        """A default export before other statements is kept under a name and returned after them."""
        value = exported_expression(default)
        if value is None:
            return
        name, first = "var $_=", start(default)
        function = self._functions.resolve(value)
        call = f"({self._arguments(function)})" if function is not None else ""
        self._unexport(default)
        for offset, character in enumerate(name):
            self.draft.put(first + offset, character)
        self.draft.insert(end(self._statements[-1]), f"; return await $_{call};")

    def _call_entry(self, last: Node | None) -> None:
        """The top level only declares: call the function that it is about."""
        likely = self._functions.likely_entries()
        if len(likely) != 1:
            raise self._never_called(likely)
        entry = likely[0]
        given = arguments_for(self.program, entry.node, is_program=entry.is_entry_name)
        if given is None and not entry.is_entry_name:
            raise self._never_called([entry])
        self.draft.insert(end(self._statements[-1]), f"; return await {entry.name}({given or ''});")
        self._enter(entry.node)
        self._work_off()

    def _never_called(self, functions: list[Function]) -> SourceError:
        names = ", ".join(f"`{function.name}`" for function in functions[:_SHOWN_NAMES])
        verb = "is" if len(functions) == 1 else "are"
        message = (
            f"{names} {verb} declared but never called, so there is nothing to run. "
            f"End the program with a call, for example `return await {functions[0].name}(...);`."
        )
        return self.source.error("never_called", start(functions[0].declaration), message)

    def _arguments(self, function: Node) -> str:
        given = arguments_for(self.program, function, is_program=True)
        if given is None:
            head = self.program.text(function).split("{", 1)[0].split("=>", 1)[0].strip()[:60]
            message = (
                f"The program is a function that expects arguments (`{head}`), and nothing calls it. "
                "Write statements that end with `return value;`, or a function without parameters."
            )
            raise self.source.error("never_called", start(function), message)
        return given

    def _finish(self, statement: Node | None) -> None:
        self._waiting.append(statement)
        self._work_off()

    def _work_off(self) -> None:
        """Return the value of each waiting statement; a list, since programs nest deeper than Python may."""
        while self._waiting:
            statement = self._waiting.pop()
            if statement is not None:
                self._finish_statement(statement)

    def _finish_statement(self, statement: Node) -> None:
        kind = statement.type
        if kind == "statement_block":
            self._finish_block(statement)
        elif statement.has_error:
            return
        elif expression_of(statement) is not None or exported_expression(statement) is not None:
            self._finish_expression(expression_of(statement) or exported_expression(statement))
        elif kind == "if_statement":
            alternative = statement.child_by_field_name("alternative")
            self._waiting.append(statement.child_by_field_name("consequence"))
            self._waiting += children(alternative)[:1] if alternative is not None else []
        elif kind == "try_statement":
            handler = statement.child_by_field_name("handler")
            self._waiting.append(statement.child_by_field_name("body"))
            self._waiting.append(handler.child_by_field_name("body") if handler is not None else None)
        else:
            self._finish_declaration(declaration_of(statement))

    def _finish_block(self, block: Node) -> None:
        if is_object(self.program, block):
            self._give_back(block, "")
        elif not block.has_error:
            self._waiting.append(last_statement(children(block)))

    def _finish_declaration(self, declaration: Node) -> None:
        if declaration.type not in {"lexical_declaration", "variable_declaration"}:
            return
        declarators = [child for child in children(declaration) if child.type == "variable_declarator"]
        name = declarators[-1].child_by_field_name("name") if declarators else None
        if name is not None:
            names = bound_names(self.program, name)
            value = names[0] if name.type == "identifier" else f"{{ {', '.join(names)} }}"
            self.draft.insert(end(declaration), f"; return await ({value});")

    def _finish_expression(self, expression: Node | None) -> None:
        expression = self._bare(expression)
        if expression is None:
            return
        core = unwrap(expression)
        function = self._functions.resolve(core)
        if function is not None:
            self._give_back(expression, f"({self._arguments(function)})")
            self._enter(function)
            return
        callee = self._functions.callee(core)
        if callee is not None and callee.runs_here:
            self._enter(callee.node)
        self._give_back(expression, "", callee.bare_arrow if callee is not None else None)

    def _give_back(self, expression: Node, call: str, bare_arrow: Node | None = None) -> None:
        self.given_back.add(start(expression))
        self.draft.insert(start(expression), "return await (")
        if bare_arrow is not None:
            # `async () => {...}()`, which JavaScript refuses, means `(async () => {...})()`.
            self.draft.insert(start(bare_arrow), "(")
            self.draft.insert(end(bare_arrow), ")")
        self.draft.insert(end(expression), f"){call}")

    def _bare(self, expression: Node | None) -> Node | None:
        """The expression without a leading `void`, `!` or `module.exports =` that only gets in the way."""
        if expression is None or self._is_no_value(expression):
            return None
        if expression.type == "unary_expression" and self.program.text(expression)[:1] in {"v", "!"}:
            argument = expression.child_by_field_name("argument")
            callee = self._functions.callee(unwrap(argument)) if argument is not None else None
            literal = (
                callee is not None
                and callee.node.type in FUNCTIONS
                and start(callee.node) >= start(expression)
            )
            if (
                argument is not None
                and callee is not None
                and (literal or self.program.text(expression)[:1] == "v")
            ):
                return self._without(start(expression), argument)
        left, right = expression.child_by_field_name("left"), expression.child_by_field_name("right")
        if left is not None and right is not None and self.program.text(left) in _EXPORTS:
            return self._without(start(left), right)
        return expression

    def _without(self, index: int, rest: Node) -> Node:
        self.draft.blank(index, start(rest))
        return rest

    def _is_no_value(self, expression: Node) -> bool:
        text = self.program.text(expression)
        return text[1:-1] == "use strict" or text.startswith("using ")

    def _enter(self, function: Node) -> None:
        """Let a function that the program hands over return its last value too."""
        body = function.child_by_field_name("body")
        if body is not None and body.type == "statement_block" and start(body) not in self._visited:
            self._visited.add(start(body))
            self._waiting.append(last_statement(children(body)))

    def _unexport(self, statement: Node) -> None:
        """Blank `export`, `export default` and `export { a, b }`."""
        if statement.type != "export_statement":
            return
        kept = statement.child_by_field_name("declaration") or exported_expression(statement)
        if kept is not None:
            self.draft.blank(start(statement), start(kept))
        elif is_export_list(statement):
            self.draft.blank(start(statement), end(statement))
