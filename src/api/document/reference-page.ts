import { htmlText } from '../../report/html-text.ts';
import { shellWord } from '../../report/shell-word.ts';
import { PAGE_TOKENS } from '../../report/look-page-style.ts';
import type { ApiDocument, ApiOperation, ApiParameter } from './openapi-document.ts';
import { fieldsOf, typeWords } from './reference-fields.ts';

/** Where the page's style is served: it has none inline, so that the policy of the server can stay strict. */
export const REFERENCE_STYLE_PATH = '/api/reference.css';

const SEES_WORDS: Readonly<Record<ApiOperation['x-bursar-access']['sees'], string>> = {
  open: 'anybody, without a token',
  totals: 'any token',
  team: 'any token; one with a team only asks about that team',
  fleet: 'tokens without a team',
};

/** The reference people read at /api: what can be asked, what comes back, and the same as a command. No script. */
export function referencePage(document: ApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const parts = document.tags.map((tag) => ({
    tag,
    listed: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const menu = parts.map(
    ({ tag, listed }) => `
    <li><a href="#${htmlText(tag.name)}">${htmlText(tag.name)}</a><ul>${listed
      .map(
        ({ operation: { operationId } }) => `<li><a href="#${htmlText(operationId)}">${htmlText(operationId)}</a></li>`,
      )
      .join('')}</ul></li>`,
  );
  const sections = parts.map(
    ({ tag, listed }) => `
    <section><h2 id="${htmlText(tag.name)}">${htmlText(tag.name)}</h2><p>${htmlText(tag.description)}</p>${listed
      .map((each) => operationHtml(document, each))
      .join('')}</section>`,
  );
  const about = document.info.description.split('\n\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bursar API</title>
<link rel="stylesheet" href="${REFERENCE_STYLE_PATH}">
</head>
<body>
<nav aria-label="Operations"><a class="home" href="/">Bursar</a><ul>${menu.join('')}
</ul></nav>
<main>
<h1>The API of Bursar ${htmlText(document.info.version)}</h1>
${about.map((text) => `<p>${htmlText(text)}</p>`).join('\n')}
<p>For programs: <a href="/api/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${sections.join('')}
</main>
</body>
</html>
`;
}

interface Listed {
  readonly path: string;
  readonly method: string;
  readonly operation: ApiOperation;
}

function operationHtml(document: ApiDocument, { path, method, operation }: Listed): string {
  const { role, sees } = operation['x-bursar-access'];
  const command = operation['x-bursar-command'];
  const fields = fieldsOf(document, operation);
  return `
    <article aria-labelledby="${htmlText(operation.operationId)}">
    <h3 id="${htmlText(operation.operationId)}"><code>${htmlText(method.toUpperCase())} ${htmlText(path)}</code></h3>
    <p class="says">${htmlText(operation.summary)}</p>
    <p class="soft">Who may ask: ${htmlText(sees === 'open' || role === 'viewer' ? SEES_WORDS[sees] : `${role} or above, ${SEES_WORDS[sees]}`)}</p>
    ${command === undefined ? '' : `<h4>The same as a command</h4><pre tabindex="0"><code>${htmlText(command)}</code></pre>`}
    <h4>With curl</h4><pre tabindex="0"><code>${htmlText(curlLine({ path, method, operation }))}</code></pre>
    ${operation.parameters.length === 0 ? '' : parametersHtml(operation.parameters)}
    ${
      fields.length === 0
        ? ''
        : tableHtml(
            'Reply',
            ['field', 'type', 'meaning'],
            fields.map(({ name, type, meaning }) => [code(name), htmlText(type), htmlText(meaning)]),
          )
    }
    ${answersHtml(document, operation)}
    </article>`;
}

/** A line to paste; a token is needed beyond loopback only. */
export function curlLine({ path, method, operation }: Listed): string {
  const named = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
  const asked = operation.parameters
    .filter((each) => each.in === 'query' && (each.required || each.schema.default !== undefined))
    .filter(({ name }) => name !== 'format')
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(schema.default ?? name.toUpperCase()))}`);
  const url = shellWord(`http://127.0.0.1:4600${named}${asked.length === 0 ? '' : `?${asked.join('&')}`}`);
  if (method === 'get') return `curl ${url}`;
  const body = operation.requestBody === undefined ? '' : ` -H 'content-type: application/json' -d '{…}'`;
  return `curl -X ${method.toUpperCase()}${body} ${url}`;
}

function parametersHtml(parameters: readonly ApiParameter[]): string {
  return tableHtml(
    'Parameters',
    ['name', 'type', 'if left out', 'meaning'],
    parameters.map(({ name, required, description = '', schema }) => [
      code(name),
      htmlText(typeWords(schema)),
      required ? 'must be given' : schema.default === undefined ? '' : code(String(schema.default)),
      htmlText(description),
    ]),
  );
}

function answersHtml(document: ApiDocument, operation: ApiOperation): string {
  const rows = Object.entries(operation.responses).map(([status, response]) => {
    const name = '$ref' in response ? (response.$ref.split('/').at(-1) ?? '') : undefined;
    const full = name === undefined ? response : document.components.responses[name];
    const description = full === undefined || '$ref' in full ? '' : full.description;
    return [code(status), htmlText(description)];
  });
  return tableHtml('Answers', ['status', 'when'], rows);
}

const code = (text: string): string => `<code>${htmlText(text)}</code>`;

/** Cells are markup already. */
function tableHtml(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  return `<details><summary>${htmlText(title)} (${rows.length})</summary><div class="wide" role="region" aria-label="${htmlText(title)}" tabindex="0"><table><thead><tr>${head
    .map((cell) => `<th scope="col">${htmlText(cell)}</th>`)
    .join('')}</tr></thead><tbody>${rows
    .map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</tbody></table></div></details>`;
}

export const REFERENCE_STYLE = `${PAGE_TOKENS}
:root { --link: light-dark(#1c5fb8, #7fb2f5); }
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); font: 400 var(--text-m)/1.45 var(--sans); }
body { margin: 0; display: grid; grid-template-columns: 220px minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; background: var(--sunk); border-right: 1px solid var(--line); padding: 16px; font-size: var(--text-s); }
nav ul { list-style: none; margin: 0 0 8px; padding: 0; } nav ul ul { padding-left: 12px; }
nav a { display: block; padding: 2px 0; overflow-wrap: anywhere; } .home { font-weight: 600; font-size: var(--text-l); margin-bottom: 8px; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
main { padding: 24px 32px 64px; max-width: 980px; }
h1 { font-size: var(--text-xl); margin: 0 0 12px; } h2 { font-size: var(--text-l); margin: 32px 0 4px; border-bottom: 1px solid var(--line-strong); }
h3 { font-size: var(--text-m); margin: 24px 0 2px; } h4 { font-size: var(--text-s); color: var(--ink-2); font-weight: 500; margin: 8px 0 2px; }
p { margin: 0 0 6px; max-width: 76ch; } .soft { color: var(--ink-2); }
code { font-family: var(--mono); font-size: 12px; } h3 code { font-size: 13px; }
pre { margin: 0; padding: 6px 8px; background: var(--sunk); overflow-x: auto; }
details { margin: 6px 0; } summary { cursor: pointer; color: var(--ink-2); font-size: var(--text-s); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: var(--text-s); }
th { text-align: left; font-weight: 500; color: var(--ink-2); } th, td { padding: 3px 8px 3px 0; border-bottom: 1px solid var(--line); vertical-align: baseline; }
@media (max-width: 700px) { body { display: block; } nav { position: static; height: auto; } main { padding: 16px; } }
@media print { nav { display: none; } body { display: block; } details > * { display: block; } }
`;
