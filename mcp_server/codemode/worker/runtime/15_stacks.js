// Stack traces speak of the program's own lines only: ours are left out, and the line before the program is taken off.
const frameText = (site) => {
  const line = site.getLineNumber();
  if (site.getScriptNameOrSourceURL() !== 'code.js' || !(line > 1)) return '';
  const name = site.getFunctionName();
  const place = 'program:' + (line - 1) + ':' + site.getColumnNumber();
  return '\n    at ' + (site.isAsync() ? 'async ' : '') + (name ? (site.isConstructor() ? 'new ' : '') + name + ' (' + place + ')' : place);
};
define($Error, 'prepareStackTrace', (error, sites) => {
  let text = isError(error) ? errorLine(error) : '';
  for (let i = 0; i < sites.length; i++) {
    try { text += frameText(sites[i]); } catch { /* A frame that cannot be described is left out. */ }
  }
  return text;
});
