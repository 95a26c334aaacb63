/**
 * How much the tests that draw by chance try, as a multiple of what the suite does:
 * `bun scripts/torture.ts chance --count 100` does a hundred times as much.
 */
export const SCALE = Number(process.env['HOOKLINE_TEST_SCALE'] ?? '1')

/** What they draw follows from it. */
export const SEED = Number(process.env['HOOKLINE_TEST_SEED'] ?? '1')
