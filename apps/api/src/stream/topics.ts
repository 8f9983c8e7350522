import type { OutboundEntry } from '#events';
import { z } from 'zod';

export const TOPICS = ['queues', 'jobs', 'owners', 'sweeps'] as const;
export type Topic = (typeof TOPICS)[number];

export const TopicsQuery = z.object({
  topics: z
    .string()
    .default(TOPICS.join(','))
    .transform((list) => list.split(','))
    .pipe(z.array(z.enum(TOPICS)).transform((topics) => new Set(topics)))
    .describe(`What to hear of, separated by commas; by default all: ${TOPICS.join(', ')}.`),
});
export type TopicsQuery = z.output<typeof TopicsQuery>;

/** An event that a client is sent. */
export interface StreamEvent {
  /** With an id a client can resume after it. */
  readonly id?: string;
  readonly name: string;
  readonly data: string;
}

/** A client that looks at a list cannot follow more: it is told how many there were. */
const MOST_JOBS_AT_ONCE = 100;

const TOPIC_OF: Readonly<Record<string, Topic>> = { job: 'jobs', owner: 'owners', sweep: 'sweeps' };

/** What clients of these topics are sent of some entries, in their order. */
export function eventsOfTopics(entries: readonly OutboundEntry[], topics: ReadonlySet<Topic>): StreamEvent[] {
  const wanted = entries
    .map((entry) => ({ ...entry, type: typeOf(entry) }))
    .filter(({ type }) => isWanted(type, topics));
  const jobs = wanted.filter(({ type }) => topicOf(type) === 'jobs');
  if (jobs.length <= MOST_JOBS_AT_ONCE) return wanted.map(eventOf);

  const counts: Record<string, number> = {};
  for (const { type } of jobs) counts[type] = (counts[type] ?? 0) + 1;
  const others = wanted.filter(({ type }) => topicOf(type) !== 'jobs');
  const summary = { id: entries.at(-1)!.id, name: 'jobs', data: JSON.stringify({ counts }) };
  return [...others.map(eventOf), summary];
}

function eventOf({ id, type, text }: OutboundEntry & { readonly type: string }): StreamEvent {
  return { id, name: type, data: text };
}

function isWanted(type: string, topics: ReadonlySet<Topic>): boolean {
  const topic = topicOf(type);
  return topic !== undefined && topics.has(topic);
}

function topicOf(type: string): Topic | undefined {
  return TOPIC_OF[type.split('.')[0]!];
}

function typeOf({ text }: OutboundEntry): string {
  return (JSON.parse(text) as { type?: string }).type ?? '';
}
