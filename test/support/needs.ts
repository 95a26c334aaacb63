import { test } from 'bun:test'

type Run = () => void | Promise<unknown>

/**
 * Gives a `test` for tests that need something that not every machine has, such as `root on Linux`. Without it
 * the tests are skipped, and the name that the report shows says what they need.
 */
export function testNeeding(need: string, isThere: boolean) {
  return (name: string, run: Run, timeoutMs?: number): void => {
    if (isThere) test(name, run, timeoutMs)
    else test.skip(`${name} (needs ${need})`, run, timeoutMs)
  }
}
