/*
  Completes package-lock.json, so that `npm ci` works on every platform whichever machine wrote the lock.

  `npm install` records only the platform packages (native builds, one a system) that its registry had to offer;
  `npm ci` then refuses the lock. Every optional dependency without an entry gets one, its platform read from its
  name. Addresses of registry tarballs are removed: the lock names no host.

    node scripts/complete-lock.mjs            rewrites package-lock.json in the current folder
    node scripts/complete-lock.mjs --check    writes nothing; exits 1 with one line when there is something to do
*/
import { readFileSync, writeFileSync } from 'node:fs';

const LOCK = 'package-lock.json';
const SYSTEM = /\b(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)/;
const PROCESSOR = /\b(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)\b/;
const LIBRARY = { gnu: 'glibc', musl: 'musl' };

const lock = JSON.parse(readFileSync(LOCK, 'utf8'));
const added = addMissing(lock.packages);
const hosts = removeHosts(lock.packages);
const summary = `${added.length} platform packages missing, ${hosts} registry addresses`;

if (!process.argv.includes('--check')) {
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, 'en')),
  );
  writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${LOCK} is complete; it had: ${summary}`);
} else if (added.length + hosts > 0) {
  console.error(`${LOCK} is not portable (${summary}): run "node scripts/complete-lock.mjs"`);
  process.exitCode = 1;
}

function addMissing(packages) {
  const places = [];
  for (const [place, parent] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(parent.optionalDependencies ?? {})) {
      const found = lookUp(packages, place, name);
      // Platform packages are asked for by exact version; an entry found for a range was chosen by npm itself.
      if (!found || (/^\d/.test(range) && packages[found].version !== range)) {
        places.push(found ? `${place}/node_modules/${name}` : `node_modules/${name}`);
        packages[places.at(-1)] = entryFor(name, range, parent);
      } else if (places.includes(found)) {
        shareFlags(packages[found], parent);
      }
    }
  }
  return places;
}

function removeHosts(packages) {
  const entries = Object.values(packages).filter((entry) => /^https?:/.test(entry.resolved));
  for (const entry of entries) delete entry.resolved;
  return entries.length;
}

/** Where npm finds `name` for a package at `place`: in its own node_modules first, in the root's last. */
function lookUp(packages, place, name) {
  const candidate = place ? `${place}/node_modules/${name}` : `node_modules/${name}`;
  if (packages[candidate] || !place) return packages[candidate] && candidate;
  return lookUp(packages, place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1)), name);
}

function entryFor(name, range, parent) {
  const version = /\d+\.\d+\.\d+[^\s|]*/.exec(range)?.[0];
  const os = SYSTEM.exec(name)?.slice(1);
  const cpu = PROCESSOR.exec(name)?.slice(1);
  const libc = os?.[0] === 'linux' ? /gnu|musl/.exec(name)?.map((word) => LIBRARY[word]) : undefined;
  if (!version || !(os ?? cpu)) throw new Error(`${LOCK}: no platform in the name "${name}@${range}"`);
  // In npm's own order of keys, so that the next `npm install` leaves the line where it is.
  return shareFlags({ version, cpu, dev: true, libc, optional: true, os, peer: true }, parent);
}

/** An entry is only for development, or only a peer, while all its dependents are. */
function shareFlags(entry, parent) {
  if (!parent.dev) delete entry.dev;
  if (!parent.peer) delete entry.peer;
  return entry;
}
