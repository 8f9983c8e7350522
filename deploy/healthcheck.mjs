// Asks the process in this container whether it is alive; exit code 0 if it is. The api answers on PORT, the
// others on HEALTH_PORT. One container runs one of them, so whichever answers is it.
const { PORT, HEALTH_PORT } = process.env;
const ports = new Set([PORT || '3000', HEALTH_PORT || '3000']);

try {
  await Promise.any([...ports].map(isAlive));
} catch (error) {
  console.error(error.errors.map(({ message }) => message).join('\n'));
  process.exitCode = 1;
}

async function isAlive(port) {
  const url = `http://127.0.0.1:${port}/livez`;
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch((error) => {
    throw new Error(`${url}: ${error.cause?.message ?? error.message}`);
  });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
}
