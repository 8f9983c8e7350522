import type { FlowTree } from '#client';
import type { JSX } from 'preact';
import { ofJobs } from '../data/events.js';
import { api } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { link } from '../router.js';
import { JobLink } from '../ui/links.js';
import { Loading, Page, Panel, Trouble } from '../ui/parts.js';
import { State } from '../ui/state.js';

/** A job and those below it: each waits for its children. */
export function FlowPage({ id }: { readonly id: string }): JSX.Element {
  const read = useRead(() => api.value.call('GET /v1/flows/{jobId}', { path: { jobId: id } }), [id], {
    when: ofJobs,
  });
  if (read.error && !read.data) return <Trouble error={read.error} retry={read.reload} />;
  if (!read.data) return <Loading />;
  const { parent, children } = read.data;
  return (
    <Page
      title="Flow"
      actions={parent && <a href={link(['flows', parent])}>Up to the job that waits for it</a>}
    >
      <Panel title="Tree">
        <ul class="tree">
          <Branch of={read.data} />
        </ul>
        {children.length === 0 && <p class="quiet pad">This job waits for no other job.</p>}
      </Panel>
    </Page>
  );
}

function Branch({ of: { id, kind, state, error, children } }: { readonly of: FlowTree }): JSX.Element {
  return (
    <li>
      <div>
        <State state={state} /> <span class="strong">{kind}</span> <JobLink id={id} />{' '}
        {error && <span class="quiet">{error}</span>}
      </div>
      {children.length > 0 && (
        <ul>
          {(children as FlowTree[]).map((child) => (
            <Branch key={child.id} of={child} />
          ))}
        </ul>
      )}
    </li>
  );
}
