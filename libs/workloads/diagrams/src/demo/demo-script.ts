import { EXAMPLES } from '../render/examples/examples.js';
import { DIAGRAM_TYPES } from '../render/types.js';

/**
 * The script of the page. Text from the api is inserted as text; a picture is shown as an image, in which no
 * script runs.
 */
export const SCRIPT = `
const EXAMPLES = ${inScript(EXAMPLES)};
const TYPES = ${inScript(DIAGRAM_TYPES)};
const at = (id) => document.getElementById(id);
const REST_MS = 250;
let turn = 0;
let timer;

function headers(more) {
  return at('key').value ? { ...more, authorization: 'Bearer ' + at('key').value } : more;
}

async function ask(body) {
  const answer = await fetch('/v1/diagrams', {
    method: 'POST',
    headers: headers({ 'content-type': 'application/json' }),
    body: JSON.stringify(body),
  });
  const said = await answer.json();
  if (answer.ok) return { diagram: said, cached: answer.status === 200 };
  throw wrong(said);
}

function wrong(said) {
  const place = said.line === undefined ? '' : 'Line ' + said.line + (said.column === undefined ? '' : ', column ' + said.column) + ': ';
  return new Error(place + (said.detail || said.title));
}

async function bytesOf(diagram, mine) {
  while (mine === turn) {
    const answer = await fetch(diagram.url);
    if (answer.status !== 202 && !answer.ok) throw wrong(await answer.json());
    if (answer.status === 200) return answer.blob();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function dataOf(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

async function draw() {
  const mine = ++turn;
  const [type, output, source] = ['type', 'output', 'source'].map((id) => at(id).value);
  if (source.trim() === '') return;
  const began = performance.now();
  at('picture').dataset.old = true;
  try {
    const { diagram, cached } = await ask({ type, output, source });
    const blob = await bytesOf(diagram, mine);
    if (mine !== turn) return;
    at('picture').src = await dataOf(blob);
    at('picture').dataset.old = false;
    at('picture').alt = type + ' as ' + output;
    at('link').href = diagram.url;
    at('link').hidden = false;
    at('facts').textContent = (cached ? 'from the cache' : 'drawn') + ' in ' + Math.round(performance.now() - began) + ' ms, ' + blob.size + ' bytes, by ' + diagram.renderer;
    say('');
  } catch (error) {
    if (mine !== turn) return;
    at('facts').textContent = '';
    say(error.message);
  }
}

function say(text) {
  at('said').textContent = text;
  at('source').setAttribute('aria-invalid', text !== '');
}

function choose() {
  const { type, source } = EXAMPLES[at('example').value];
  at('type').value = type;
  at('source').value = source;
  draw();
}

function fill(id, choices) {
  at(id).replaceChildren(...choices.map(([value, text]) => new Option(text, value)));
}

fill('example', EXAMPLES.map(({ name, type }, i) => [i, type + ': ' + name]));
fill('type', TYPES.map((type) => [type, type]));
at('example').addEventListener('change', choose);
for (const id of ['type', 'output']) at(id).addEventListener('change', draw);
at('source').addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(draw, REST_MS);
});
at('form').addEventListener('submit', (event) => event.preventDefault());
choose();
`;

/** Escapes what would end the script element or a line. */
function inScript(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
