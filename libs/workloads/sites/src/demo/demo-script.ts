/** The script of the page. Text from the api is inserted as text, never as markup. */
export const SCRIPT = `
const at = (id) => document.getElementById(id);
const MANY = 51;
let site;
let changes = 0;
let shown = -1;
let watching;

async function ask(method, path, body) {
  const headers = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (at('key').value) headers.authorization = 'Bearer ' + at('key').value;
  const answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await answer.text();
  const said = text ? JSON.parse(text) : {};
  if (!answer.ok) throw new Error(said.detail || answer.statusText);
  return said;
}

async function put(number, title) {
  await ask('PUT', '/v1/sites/' + site + '/entities/post/' + number, { title, body: 'The text of ' + title + '.' });
  changes += 1;
  at('changes').textContent = changes;
}

async function importMany() {
  site = (await ask('POST', '/v1/sites', { name: 'Harbour notes', pace: '3s' })).id;
  changes = 0;
  shown = -1;
  at('site').removeAttribute('src');
  let next = 1;
  const some = async () => {
    while (next <= MANY) {
      const number = next;
      next += 1;
      await put(number, 'Note ' + number);
    }
  };
  await Promise.all([some(), some(), some(), some()]);
}

function show(view) {
  at('count').textContent = view.builds.length;
  at('routes').textContent = view.routes.length;
  at('builds').replaceChildren(...view.builds.slice().reverse().map(lineOf));
  const current = view.builds.find((build) => build.current);
  if (!current || current.version === shown) return;
  shown = current.version;
  at('site').src = '/sites/' + site + '/post?version=' + shown;
}

function lineOf(build, i) {
  const line = document.createElement('li');
  line.dataset.state = build.state;
  line.textContent = 'Build ' + (i + 1) + ': ' + build.state + (build.current ? ', shown' : '');
  const more = document.createElement('small');
  more.textContent = build.entities === null ? build.id : build.entities + ' entities, ' + build.id;
  line.append(more);
  return line;
}

async function watch() {
  const watched = site;
  if (watched !== undefined) {
    const view = await ask('GET', '/v1/sites/' + watched);
    if (watched === site) show(view);
  }
}

async function tick() {
  watching = watch().catch((error) => {
    at('said').textContent = error.message;
  });
  await watching;
  setTimeout(tick, 300);
}

function when(id, does) {
  at(id).addEventListener('click', async () => {
    for (const button of document.querySelectorAll('button')) button.disabled = true;
    at('said').textContent = '';
    try {
      await does();
    } catch (error) {
      at('said').textContent = error.message;
    }
    at('import').disabled = false;
    at('edit').disabled = at('remove').disabled = site === undefined;
  });
}

at('form').addEventListener('submit', (event) => event.preventDefault());
when('import', importMany);
when('edit', () => put(1 + Math.floor(Math.random() * MANY), 'Changed at ' + new Date().toLocaleTimeString()));
when('remove', async () => {
  const gone = site;
  site = undefined;
  // Waits for the poll in progress, which must not read a deleted site.
  await watching;
  try {
    await ask('DELETE', '/v1/sites/' + gone);
  } catch (error) {
    site = gone;
    throw error;
  }
  at('site').removeAttribute('src');
  at('builds').replaceChildren();
  for (const id of ['changes', 'count', 'routes']) at(id).textContent = 0;
  at('said').textContent = 'The site, its builds and its pages are deleted.';
});
tick();
`;
