/** Whether the long form of a test runs: `npm run test:nightly`. */
export const isNight = process.env['TEST_NIGHTLY'] !== undefined;
