import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { filter as setFilter } from '../router.js';
import type { JobFilter } from './jobs.js';

const STATES = [
  'waiting',
  'delayed',
  'running',
  'retrying',
  'completed',
  'failed',
  'cancelled',
  'expired',
  'skipped',
];
const TYPING_MS = 300;

/** The filters are in the address: a link to what is seen can be sent. */
export function JobFilters({ filter }: { readonly filter: JobFilter }): JSX.Element {
  const kinds = useRead(() => api.value.call('GET /v1/kinds'), []).data?.kinds ?? [];
  const queues = [...new Set(kinds.map(({ queue }) => queue))].toSorted((a, b) => a.localeCompare(b));
  const set = (change: Readonly<Record<string, string>>): void => setFilter({ ...filter, ...change });
  return (
    <form class="filters" role="search" aria-label="Filter jobs" onSubmit={(event) => event.preventDefault()}>
      <nav class="tabs" aria-label="State">
        {['', ...STATES].map((state) => (
          <button
            key={state}
            type="button"
            aria-pressed={(filter.state ?? '') === state}
            onClick={() => set({ state })}
          >
            {state || 'all'}
          </button>
        ))}
      </nav>
      <Typed
        name="owner"
        hint="Owner, as in trip:42"
        value={filter.owner}
        onValue={(owner) => set({ owner })}
      />
      <Choice
        name="queue"
        all="All queues"
        of={queues}
        value={filter.queue}
        onValue={(queue) => set({ queue })}
      />
      <Choice
        name="kind"
        all="All kinds"
        of={kinds.map(({ name }) => name)}
        value={filter.kind}
        onValue={(kind) => set({ kind })}
      />
      <Typed name="error" hint="Error contains" value={filter.error} onValue={(error) => set({ error })} />
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly value: string | undefined;
  readonly onValue: (value: string) => void;
}

function Choice({
  name,
  all,
  of,
  value = '',
  onValue,
}: FieldProps & { readonly all: string; readonly of: readonly string[] }): JSX.Element {
  const known = value === '' || of.includes(value) ? of : [...of, value];
  return (
    <select
      name={name}
      aria-label={name}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value)}
    >
      <option value="">{all}</option>
      {known.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

/** Filters once the person has stopped typing. */
export function Typed({
  name,
  hint,
  value = '',
  onValue,
}: FieldProps & { readonly hint: string }): JSX.Element {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onValue(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      name={name}
      aria-label={hint}
      placeholder={hint}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}
