import { expect, test } from 'bun:test'

import { readLicenses } from '../../src/cli/licenses.macro.ts'
import { hookline } from '../support/executable.ts'

test('the executable prints the licence of every package inside it, and of Bun and WebKit', async () => {
  const { stdout, exitCode } = await hookline(['licenses'])

  const titles = [...stdout.matchAll(/^-{80}\n(.+)\n-{80}$/gm)].map(([, title]) => title ?? '')
  expect(exitCode).toBe(0)
  expect(stdout.trim()).toBe(readLicenses().trim())
  expect([titles[0], ...titles.slice(-3)]).toEqual([
    'Hookline',
    'Bun',
    'GNU Library General Public License, version 2',
    'GNU Lesser General Public License, version 2.1',
  ])
  // Direct, needed by another package, and one whose licence comes with a notice.
  expect(titles).toContainEqual(expect.stringMatching(/^elysia \S+ \(MIT\)$/))
  expect(titles).toContainEqual(expect.stringMatching(/^memoirist \S+ \(MIT\)$/))
  expect(stdout).toContain('swagger-ui\nCopyright')
  expect(titles.filter((title) => title.includes('no licence named'))).toEqual([])
})
