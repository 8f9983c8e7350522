import type { Job } from '#client';
import type { JSX } from 'preact';
import { ofJob } from '../data/events.js';
import { api, can } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { go, link } from '../router.js';
import { Action } from '../ui/action.js';
import { bytes, short } from '../ui/format.js';
import { OwnerLink } from '../ui/links.js';
import { Facts, Json, Loading, Page, Panel, Trouble } from '../ui/parts.js';
import { State } from '../ui/state.js';
import { Time } from '../ui/time.js';
import { Timeline } from './job-timeline.js';

const PENDING = ['waiting', 'delayed', 'retrying', 'running'];

export function JobPage({ id }: { readonly id: string }): JSX.Element {
  const path = { id };
  const job = useRead(() => api.value.call('GET /v1/jobs/{id}', { path }), [id], { when: ofJob(id) });
  if (job.error && !job.data) return <Trouble error={job.error} retry={job.reload} />;
  if (!job.data) return <Loading />;
  const { kind, queue, owners, state, error, why, attempts, result, progress, artifacts } = job.data;
  const title = (
    <>
      {kind} <State state={state} />
    </>
  );
  return (
    <Page title={title} actions={<Actions job={job.data} reload={job.reload} />}>
      <Facts
        of={{
          Job: <span class="mono">{id}</span>,
          Queue: <a href={link(['jobs'], { queue })}>{queue}</a>,
          Owners: owners.map((name) => (
            <span key={name} class="chip">
              <OwnerLink name={name} />
            </span>
          )),
          Tries: attempts,
          Progress:
            state === 'running' && typeof progress === 'number' ? (
              <progress max={100} value={progress} aria-label="Progress" />
            ) : (
              ''
            ),
          Flow: <a href={link(['flows', id])}>Show its tree</a>,
          Removed: why,
        }}
      />
      {error && (
        <Panel title="Error">
          <Json label="Error" value={error} />
        </Panel>
      )}
      <Panel title="Timeline">
        <Timeline job={job.data} />
      </Panel>
      <div class="columns">
        <Payload id={id} state={state} />
        <Panel title="Result">
          {result === null || result === undefined ? (
            <p class="quiet pad">There is no result{PENDING.includes(state) ? ' yet.' : '.'}</p>
          ) : (
            <Json label="Result" value={result} />
          )}
        </Panel>
      </div>
      <Log id={id} state={state} />
      {artifacts.length > 0 && (
        <Panel title="Artifacts">
          <ul class="rows">
            {artifacts.map(({ name, size, contentType }) => (
              <li key={name}>
                <span class="mono">{name}</span> <span class="quiet">{contentType}</span>{' '}
                <span>{bytes(size)}</span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </Page>
  );
}

function Actions({
  job: { id, kind, state },
  reload,
}: {
  readonly job: Job;
  readonly reload: () => void;
}): JSX.Element {
  const path = { id };
  const retry = async (): Promise<void> => {
    await api.value.call('POST /v1/jobs/{id}/retry', { path, body: { reset: true } });
    reload();
  };
  const promote = async (): Promise<void> => {
    await api.value.call('POST /v1/jobs/{id}/promote', { path });
    reload();
  };
  const cancel = async (): Promise<void> => {
    const { cancelId } = await api.value.call('DELETE /v1/jobs/{id}', { path });
    go(link(['cancellations', cancelId]));
  };
  return (
    <>
      {state === 'failed' && can('admin') && (
        <Action run={retry} done={`${kind} ${short(id, 12)} waits again.`} tone="primary">
          Retry
        </Action>
      )}
      {state === 'delayed' && can('admin') && (
        <Action run={promote} done="It waits now.">
          Run now
        </Action>
      )}
      {PENDING.includes(state) && can('cancel') && (
        <Action run={cancel} tone="danger">
          Cancel this job
        </Action>
      )}
    </>
  );
}

interface PartProps {
  readonly id: string;
  readonly state: string;
}

function Payload({ id, state }: PartProps): JSX.Element {
  const { data, error } = useRead(
    () => api.value.call('GET /v1/jobs/{id}/payload', { path: { id } }),
    [id, state],
  );
  return (
    <Panel title="Payload">
      {error && <p class="quiet pad">{error.message}</p>}
      {data && <Json label="Payload" value={data.payload ?? null} />}
    </Panel>
  );
}

function Log({ id, state }: PartProps): JSX.Element {
  const { data } = useRead(() => api.value.call('GET /v1/jobs/{id}/log', { path: { id } }), [id, state], {
    when: ofJob(id),
  });
  return (
    <Panel title="Log">
      {data && data.lines.length > 0 ? (
        <ol class="log" tabIndex={0} aria-label="Lines of the log">
          {data.lines.map(({ at, level, text }, i) => (
            <li key={i} class={level}>
              <Time at={at} /> <span>{text}</span>
            </li>
          ))}
        </ol>
      ) : (
        <p class="quiet pad">Its runs have logged nothing. A handler logs with run.log.</p>
      )}
    </Panel>
  );
}
