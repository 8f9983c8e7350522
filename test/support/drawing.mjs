// A process that draws until it is killed: the first argument is the source, the second its type.
const built = new URL('../../dist/libs/workloads/diagrams/src/render/renderers.js', import.meta.url);
const { Renderers } = await import(built.href);

const [, , type, source, chromium] = process.argv;
const renderers = new Renderers({ chromium, timeMs: { [type]: 600_000 } });
renderers.render({ type, source, output: 'svg' }, new AbortController().signal).catch(() => undefined);
process.stdout.write('drawing\n');
setInterval(() => undefined, 60_000);
