import type { Operation } from '#client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, noteRefusal } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { go, link } from '../router.js';
import { Action } from '../ui/action.js';
import { Dialog } from '../ui/dialog.js';
import { number, plural } from '../ui/format.js';
import { Facts, Loading, Trouble } from '../ui/parts.js';
import { TypedName } from '../ui/typed-name.js';
import type { JobFilter } from './jobs.js';

export type OperationAction = Operation['action'];

const LOOK_MS = 400;

const EFFECT: Readonly<Record<OperationAction, string>> = {
  retry: 'wait again, under the present epochs of their owners. Jobs of closed owners are refused',
  cancel: 'are cancelled: none of them starts, and those that run are told to stop',
  remove: 'are removed, with their artifacts',
};
const VERB: Readonly<Record<OperationAction, string>> = {
  retry: 'Retry',
  cancel: 'Cancel',
  remove: 'Remove',
};

/** Counts first, and changes nothing before that is seen. */
export function OperationDialog({
  action,
  filter,
  onClose,
}: {
  readonly action: OperationAction;
  readonly filter: JobFilter;
  readonly onClose: () => void;
}): JSX.Element {
  const preview = usePreview(action, filter);
  const [typed, setTyped] = useState('');
  // A retry can be undone: the job fails again, or is cancelled.
  const name = action === 'retry' ? undefined : (filter.owner ?? filter.queue ?? filter.kind ?? action);
  const matched = preview.data?.matched ?? 0;
  const isCounted = preview.data?.state === 'done';

  const start = async (): Promise<void> => {
    const { operationId } = await api.value.call('POST /v1/operations', {
      body: order(action, filter, false),
    });
    onClose();
    go(link(['operations', operationId]));
  };
  return (
    <Dialog title={`${VERB[action]} jobs`} onClose={onClose}>
      <Facts of={filter as Record<string, string>} />
      {preview.error && <Trouble error={preview.error} />}
      {!preview.data && !preview.error && <Loading />}
      {preview.data && (
        <>
          <p class="big" role="status">
            {isCounted ? plural(matched, 'job') : `${number(matched)} so far…`}
          </p>
          {isCounted && <p>{matched === 0 ? 'No job matches now.' : `They ${EFFECT[action]}.`}</p>}
          <Samples of={preview.data} />
        </>
      )}
      {isCounted && matched > 0 && name !== undefined && (
        <TypedName name={name} typed={typed} onType={setTyped} />
      )}
      <footer class="actions">
        <button type="button" class="plain" onClick={onClose}>
          Close
        </button>
        <Action
          run={start}
          tone={action === 'retry' ? 'primary' : 'danger'}
          disabled={!isCounted || matched === 0 || (name !== undefined && typed !== name)}
        >
          {VERB[action]} {isCounted && matched > 0 ? plural(matched, 'job') : 'jobs'}
        </Action>
      </footer>
    </Dialog>
  );
}

function Samples({ of: { samples } }: { readonly of: Operation }): JSX.Element | null {
  if (samples.length === 0) return null;
  return (
    <ul class="samples" aria-label="Some of them">
      {samples.slice(0, 5).map(({ id, kind, owners, error }) => (
        <li key={id}>
          <span class="strong">{kind}</span> {owners[0]} <span class="quiet">{error}</span>
        </li>
      ))}
    </ul>
  );
}

/** Starts a dry run, and follows it until it has counted. */
function usePreview(
  action: OperationAction,
  filter: JobFilter,
): { readonly data: Operation | undefined; readonly error: Error | undefined } {
  const [started, setStarted] = useState<{ id?: string; error?: Error }>({});
  useEffect(() => {
    api.value.call('POST /v1/operations', { body: order(action, filter, true) }).then(
      ({ operationId }) => setStarted({ id: operationId }),
      (error: Error) => {
        noteRefusal(error);
        setStarted({ error });
      },
    );
  }, []);
  const { id } = started;
  const read = useRead(
    async () =>
      id === undefined
        ? undefined
        : api.value.call('GET /v1/operations/{operationId}', { path: { operationId: id } }),
    [id],
    { againInMs: (data) => (data === undefined || hasEnded(data) ? undefined : LOOK_MS) },
  );
  return { data: read.data, error: started.error ?? read.error };
}

export function hasEnded({ state }: Operation): boolean {
  return state === 'done' || state === 'stopped' || state === 'failed';
}

function order(
  action: OperationAction,
  { state, ...filter }: JobFilter,
  dryRun: boolean,
): {
  action: OperationAction;
  filter: object;
  dryRun: boolean;
} {
  return { action, filter: { ...filter, ...(state && { state }) }, dryRun };
}
