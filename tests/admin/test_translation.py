import ast
import gettext
import re
from pathlib import Path

import pytest
from django.utils.translation import override

import mcp_server
from mcp_server.admin.amounts import duration
from mcp_server.models import CodeRun

pytestmark = pytest.mark.proves("D08")
ROOT = Path(mcp_server.__file__).parent
CATALOG = ROOT / "locale/zh_Hans/LC_MESSAGES/django.mo"
MARKERS = {"_", "gettext", "gettext_lazy", "ngettext"}
TAG = re.compile(r"""{%\s*(?:translate|trans)\s+"([^"]+)"|\b_\("([^"]+)"\)""")
BLOCK = re.compile(
    r"{%\s*blocktranslate[^%]*%}(.*?)(?:{%\s*plural\s*%}.*?)?{%\s*endblocktranslate\s*%}", re.DOTALL
)


def marked_texts():
    for path in (*ROOT.glob("admin/*.py"), *ROOT.glob("models/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKERS:
                (text, *_rest) = node.args
                assert isinstance(text, ast.Constant), f"{path.name}:{node.lineno}"
                yield text.value
    for path in ROOT.glob("templates/**/*.html"):
        source = path.read_text(encoding="utf-8")
        yield from (first or second for first, second in TAG.findall(source))
        yield from (re.sub(r"{{\s*(\w+)\s*}}", r"%(\1)s", text) for text in BLOCK.findall(source))


def test_every_admin_text_is_in_the_chinese_catalogue():
    with CATALOG.open("rb") as file:
        catalog = gettext.GNUTranslations(file)
    texts = set(marked_texts())
    assert len(texts) > 200
    known = {text for text in texts if catalog.gettext(text) != text or catalog.ngettext(text, "", 1) != text}
    # Written the same in both languages.
    assert texts - known == {"MB", "%s MB"}


@pytest.mark.django_db
def test_the_pages_speak_chinese(root, make_run):
    run = make_run("a")
    headers = {"accept-language": "zh-hans"}
    page = root.get(f"/admin/mcp_toolkit/coderun/{run.id}/change/", headers=headers).content.decode()
    for text in ("代码运行", "工具调用", "限制的使用情况", "节省的词元", "1 秒"):
        assert text in page
    form = root.get("/admin/mcp_toolkit/limits/code/change/", headers=headers).content.decode()
    for text in ("每次运行的内存", "生效值", "上限", "留空即继承", "毫秒"):
        assert text in form
    assert "概览" in root.get("/admin/mcp_toolkit/process/", headers=headers).content.decode()


def test_names_and_amounts_follow_the_language():
    with override("zh-hans"):
        assert str(CodeRun._meta.verbose_name) == "代码运行"
        assert duration(1500) == "1.50 秒"
    with override("en"):
        assert str(CodeRun._meta.verbose_name) == "code run"
