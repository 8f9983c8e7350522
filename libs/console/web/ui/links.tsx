import type { JSX } from 'preact';
import { link, ownerLink } from '../router.js';
import { short } from './format.js';

export function JobLink({ id }: { readonly id: string }): JSX.Element {
  return (
    <a class="mono" href={link(['jobs', id])} title={id}>
      {short(id, 16)}
    </a>
  );
}

export function OwnerLink({ name }: { readonly name: string }): JSX.Element {
  return (
    <a href={ownerLink(name)} title={name}>
      {short(name, 30)}
    </a>
  );
}

export function OwnerLinks({ names }: { readonly names: readonly string[] }): JSX.Element {
  const [first, ...others] = names;
  if (first === undefined) return <span class="quiet">–</span>;
  return (
    <>
      <OwnerLink name={first} />
      {others.length > 0 && (
        <span class="quiet" title={others.join(', ')}>
          {' '}
          +{others.length}
        </span>
      )}
    </>
  );
}
