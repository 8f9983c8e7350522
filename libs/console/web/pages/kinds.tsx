import type { Kinds } from '#client';
import type { JSX } from 'preact';
import { api } from '../data/session.js';
import { useRead } from '../data/use-read.js';
import { link } from '../router.js';
import { duration, number } from '../ui/format.js';
import { Empty, Loading, Page, Trouble } from '../ui/parts.js';
import { Table, type Column } from '../ui/table.js';

const COLUMNS: readonly Column<Kinds['kinds'][number]>[] = [
  {
    name: 'Kind',
    cell: ({ name }) => (
      <a class="strong" href={link(['jobs'], { kind: name })}>
        {name}
      </a>
    ),
  },
  { name: 'Queue', cell: ({ queue }) => queue, isLong: true },
  { name: 'Tries', cell: ({ attempts }) => attempts, isNumber: true },
  { name: 'Time limit', cell: ({ timeoutMs }) => duration(timeoutMs), isNumber: true, isWide: true },
  { name: 'Deduplication', cell: ({ dedup }) => dedup, isWide: true },
  {
    name: 'Kept when completed',
    cell: ({ keep }) => `${duration(keep.completed.ageMs)}, ${number(keep.completed.count)}`,
    isNumber: true,
    isWide: true,
  },
  {
    name: 'Kept when failed',
    cell: ({ keep }) => `${duration(keep.failed.ageMs)}, ${number(keep.failed.count)}`,
    isNumber: true,
    isWide: true,
  },
];

export function KindsPage(): JSX.Element {
  const read = useRead(() => api.value.call('GET /v1/kinds'), []);
  if (read.error) return <Trouble error={read.error} retry={read.reload} />;
  if (!read.data) return <Loading />;
  const { kinds } = read.data;
  return (
    <Page title="Kinds">
      {kinds.length === 0 ? (
        <Empty title="This api knows no kinds.">A kind is defined in code, with defineKind.</Empty>
      ) : (
        <Table label="Kinds" columns={COLUMNS} rows={kinds} keyOf={({ name }) => name} />
      )}
    </Page>
  );
}
