/** The script of the page. Text from the api is inserted as text, never as markup. */
export const SCRIPT = `
const at = (id) => document.getElementById(id);
const LIVES = '30s';
const visit = Math.random().toString(36).slice(2, 7);
const trips = [];
let asked = 0;

function make(tag, kind, text) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
}

function button(text, kind, press) {
  const element = make('button', kind, text);
  element.type = 'button';
  element.addEventListener('click', () => press().then(() => at('said').textContent = '', (error) => at('said').textContent = error.message));
  return element;
}

function authorized(headers) {
  return at('key').value ? { ...headers, authorization: 'Bearer ' + at('key').value } : headers;
}

async function call(method, path, body, more) {
  const headers = authorized(body === undefined ? {} : { 'content-type': 'application/json' });
  const answer = await fetch('/v1' + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), ...more });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.detail || answer.statusText);
  return said;
}

/** One driver's phone. It shows only what its event stream sends. */
class Phone {
  constructor(name) {
    this.name = name;
    this.id = name.toLowerCase() + '-' + visit;
    this.last = '';
    this.offer = undefined;
    this.trip = undefined;
    const root = make('article', 'phone');
    root.id = name.toLowerCase();
    const screen = make('div', 'screen');
    const top = make('div', 'top');
    const label = make('label');
    this.box = make('input');
    this.box.type = 'checkbox';
    this.box.checked = true;
    this.box.addEventListener('change', () => this.beAvailable().catch((error) => at('said').textContent = error.message));
    label.append(this.box, ' online');
    top.append(make('h2', '', name), label);
    this.stage = make('div', 'stage');
    this.stage.setAttribute('aria-live', 'polite');
    this.log = make('ul', 'log');
    screen.append(top, this.stage, this.log);
    root.append(screen);
    at('phones').append(root);
    this.draw();
  }

  async begin() {
    for (;;) {
      // Set again on each attempt: the user may have entered a key since.
      await this.beAvailable().then(() => at('said').textContent = '', (error) => at('said').textContent = error.message);
      await this.listen().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }

  async beAvailable() {
    await call('PUT', '/drivers/' + this.id, { available: this.box.checked });
    this.draw();
  }

  async listen() {
    const headers = authorized(this.last ? { 'last-event-id': this.last } : {});
    const answer = await fetch('/v1/drivers/' + this.id + '/offers', { headers });
    if (!answer.ok) throw new Error(answer.statusText);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let unread = '';
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const blocks = (unread + next.value).split('\\n\\n');
      unread = blocks.pop();
      for (const block of blocks) this.hear(block);
    }
  }

  hear(block) {
    const field = (name) => (block.split('\\n').find((line) => line.startsWith(name + ': ')) || '').slice(name.length + 2);
    if (!field('event')) return;
    this.last = field('id');
    const data = JSON.parse(field('data'));
    if (field('event') === 'offer') {
      this.offer = data;
      this.say(nameOf(data.tripId) + ' offered');
    } else {
      if (this.offer && this.offer.tripId === data.tripId) this.offer = undefined;
      // The response to the accept call does the rest.
      if (field('event') === 'accepted') return this.draw();
      if (this.trip === data.tripId) this.trip = undefined;
      this.say(nameOf(data.tripId) + ' withdrawn: ' + data.reason);
    }
    this.draw();
  }

  say(text) {
    this.log.prepend(make('li', '', new Date().toLocaleTimeString() + ' ' + text));
    while (this.log.children.length > 5) this.log.lastChild.remove();
  }

  async answer(how) {
    const { tripId } = this.offer;
    await call('POST', '/trips/' + tripId + '/' + how, { driverId: this.id });
    if (how === 'accept') {
      this.trip = tripId;
      this.offer = undefined;
      this.say(nameOf(tripId) + ' accepted');
    }
    this.draw();
  }

  async complete() {
    const { trip } = this;
    this.trip = undefined;
    this.say(nameOf(trip) + ' completed');
    await call('POST', '/trips/' + trip + '/complete');
    this.draw();
  }

  draw() {
    this.stage.replaceChildren(...this.parts());
  }

  parts() {
    if (this.trip) {
      const card = make('div', 'trip');
      card.append(make('div', 'big', 'Driving ' + nameOf(this.trip)), make('div', 'small', 'The next request waits until this ride ends.'));
      return [card, button('Complete', 'go', () => this.complete())];
    }
    if (this.offer) {
      const card = make('div', 'offer');
      const bar = make('div', 'bar');
      this.left = make('i');
      bar.append(this.left);
      const row = make('div', 'row');
      row.append(button('Accept', 'go', () => this.answer('accept')), button('Decline', 'stop', () => this.answer('decline')));
      card.append(make('div', 'big', nameOf(this.offer.tripId)), make('div', 'small', 'requested by ' + this.offer.customerId), bar, row);
      this.tick();
      return [card];
    }
    if (!this.box.checked) return [make('div', 'big', 'Offline'), make('div', 'small', 'Requests fail and are retried.')];
    return [make('div', 'big', 'Waiting for a ride')];
  }

  tick() {
    if (!this.offer || !this.left) return;
    const part = (Date.parse(this.offer.expiresAt) - Date.now()) / 30000;
    this.left.style.setProperty('width', Math.max(0, Math.min(1, part)) * 100 + '%');
  }
}

function nameOf(tripId) {
  const trip = trips.find(({ id }) => id === tripId);
  return trip ? trip.name : 'a ride';
}

async function ask() {
  asked += 1;
  const name = 'Ride ' + asked;
  // Listed before the response arrives: an offer may be faster.
  const trip = { name, status: 'PENDING', id: undefined };
  trips.unshift(trip);
  trips.splice(5);
  try {
    const answer = await call('POST', '/trips', { customerId: 'Rida', driverIds: phones.map(({ id }) => id), expiresIn: LIVES });
    Object.assign(trip, answer);
  } finally {
    if (!trip.id) trips.splice(trips.indexOf(trip), 1);
    drawTrips();
    for (const phone of phones) phone.draw();
  }
}

function drawTrips() {
  at('trips').replaceChildren(...trips.map((trip) => {
    const item = make('li');
    const driver = phones.find(({ id }) => id === trip.driverId);
    const who = driver ? 'with ' + driver.name : trip.reason || 'three drivers are asked';
    const what = make('span', 'what', trip.name + ' ');
    what.append(make('span', trip.status, trip.status.toLowerCase()));
    item.append(what, make('span', 'who', who));
    if (trip.id && isOpen(trip)) item.append(button('Cancel', 'stop', () => cancel(trip)));
    return item;
  }));
}

async function cancel(trip) {
  Object.assign(trip, await call('POST', '/trips/' + trip.id + '/cancel', { reason: 'the rider no longer needs it' }));
  drawTrips();
}

function isOpen({ status }) {
  return status === 'PENDING' || status === 'ACCEPTED';
}

async function look() {
  for (const trip of trips.filter((one) => one.id && isOpen(one))) {
    const before = trip.status;
    Object.assign(trip, await call('GET', '/trips/' + trip.id));
    if (trip.status !== before) drawTrips();
  }
}

const phones = ['Ann', 'Bob', 'Cem'].map((name) => new Phone(name));
for (const phone of phones) void phone.begin();
at('ask').addEventListener('click', () => ask().catch((error) => at('said').textContent = error.message));
setInterval(() => look().catch(() => undefined), 400);
setInterval(() => phones.forEach((phone) => phone.tick()), 250);
addEventListener('pagehide', () => {
  for (const { id } of phones) call('PUT', '/drivers/' + id, { available: false }, { keepalive: true }).catch(() => undefined);
});
`;
