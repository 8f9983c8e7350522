import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ofOwners } from '../data/events.js';
import { api } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { go, link } from '../router.js';
import { Action } from '../ui/action.js';
import { Dialog } from '../ui/dialog.js';
import { plural } from '../ui/format.js';
import { Loading, Trouble } from '../ui/parts.js';
import { TypedName } from '../ui/typed-name.js';
import { ByQueue } from './receipt-table.js';

/** Shows what would go before it goes. */
export function CancelDialog({
  type,
  id,
  onClose,
}: {
  readonly type: string;
  readonly id: string;
  readonly onClose: () => void;
}): JSX.Element {
  const name = `${type}:${id}`;
  const path = { type, id };
  const preview = useRead(
    () => api.value.call('POST /v1/owners/{type}/{id}/cancel', { path, body: { dryRun: true } }),
    [name],
    { when: ofOwners },
  );
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [close, setClose] = useState(true);

  const cancel = async (): Promise<void> => {
    const body = { close, ...(reason.trim() && { reason: reason.trim() }) };
    const { cancelId } = await api.value.call('POST /v1/owners/{type}/{id}/cancel', { path, body });
    onClose();
    go(link(['cancellations', cancelId]));
  };
  return (
    <Dialog title={`Cancel ${name}`} onClose={onClose}>
      {preview.error && <Trouble error={preview.error} />}
      {!preview.data && !preview.error && <Loading />}
      {preview.data && (
        <>
          <p class="big" role="status">
            {plural(preview.data.removed, 'job')} would be removed, {plural(preview.data.aborted, 'run')}{' '}
            stopped
          </p>
          <ByQueue receipt={preview.data} />
          <p class="quiet">
            No job of {name} that was enqueued before starts after this, in any queue
            {preview.data.schedules > 0 && `, and ${plural(preview.data.schedules, 'schedule')} would end`}.
          </p>
        </>
      )}
      <label class="field">
        <span>Reason, kept in the receipt and the history</span>
        <input
          name="reason"
          maxLength={500}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={close} onChange={(event) => setClose(event.currentTarget.checked)} />
        <span>Close it: refuse new jobs until it is reopened</span>
      </label>
      <TypedName name={name} typed={typed} onType={setTyped} />
      <footer class="actions">
        <button type="button" class="plain" onClick={onClose}>
          Keep it
        </button>
        <Action run={cancel} tone="danger" disabled={typed !== name}>
          Cancel {name}
        </Action>
      </footer>
    </Dialog>
  );
}
