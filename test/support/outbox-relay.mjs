// A relay of an outbox in a process of its own, until it is killed. KILL_AT names a statement to the database at which it kills itself, as by
// kill -9: before it is sent (before:commit), or when it is answered (after:commit). With it the relay ends when no row is left.
import { MooredQueue, Owners } from '#core';
import { OutboxRelay, QueuesTarget } from '#outbox';
import { Redis } from 'ioredis';
import pg from 'pg';

const { REDIS_URL, PREFIX, DATABASE_URL, KILL_AT } = process.env;
const [when, verb] = (KILL_AT ?? '').split(':');
const { value: query } = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query');
pg.Client.prototype.query = function (statement, ...rest) {
  const isIt = verb && String(statement?.text ?? statement).startsWith(verb);
  if (isIt && when === 'before') process.kill(process.pid, 'SIGKILL');
  const answer = query.call(this, statement, ...rest);
  if (isIt) answer.then(() => process.kill(process.pid, 'SIGKILL'));
  return answer;
};

const place = { connection: new Redis(REDIS_URL, { maxRetriesPerRequest: null }), prefix: PREFIX };
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 4 });
pool.on('error', () => undefined);
const target = new QueuesTarget([new MooredQueue('audio', place)], new Owners(place));
const relay = new OutboxRelay(pool, target, { batch: 10, pollEvery: 50, onError: () => undefined });
relay.start();
