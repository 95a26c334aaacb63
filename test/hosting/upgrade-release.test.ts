// Which files an upgrade takes for a release of Hookline.

import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

import { NEXT } from './upgrade-builds.ts'
import { UpgradeWorld } from './upgrade-world.ts'

const REFUSALS: readonly (readonly [
  what: string,
  prepare: (world: UpgradeWorld) => void,
  why: string,
])[] = [
  [
    'a file without a published sum',
    (world) => {
      world.publish(NEXT)
      rmSync(world.sums)
    },
    'No checksum found for',
  ],
  [
    'a file whose sum is published under another name',
    (world) => {
      world.publish(NEXT)
      renameSync(world.sums, `${world.file}.sha256`)
      const text = readFileSync(`${world.file}.sha256`, 'utf8')
      writeFileSync(`${world.file}.sha256`, text.replace('hookline-next', 'hookline-other'))
    },
    'No checksum found for',
  ],
  [
    'a file that is not what was published',
    (world) => world.publish(NEXT, { sum: '0'.repeat(64) }),
    'is not the published file: its SHA-256 is',
  ],
  [
    'a file whose sums nobody signed',
    (world) => {
      world.publish(NEXT)
      rmSync(world.signature)
    },
    'The release signature',
  ],
  [
    'a file whose sums another key signed',
    (world) => world.publish(NEXT, { signedBy: generateKeyPairSync('ed25519').privateKey }),
    "it is not from Hookline's release key",
  ],
  [
    'a file whose sums were changed after they were signed',
    (world) => {
      world.publish(NEXT)
      writeFileSync(world.sums, `${'0'.repeat(64)}  other\n${readFileSync(world.sums, 'utf8')}`)
    },
    "it is not from Hookline's release key",
  ],
  [
    'every release, by a build that has no release key,',
    (world) => {
      world.publish(NEXT)
      world.hasReleaseKey = false
    },
    'has no release key',
  ],
]

for (const [what, prepare, why] of REFUSALS) {
  test(`${what} is refused before it is run`, async () => {
    using world = new UpgradeWorld()
    prepare(world)

    const { steps, result } = await world.upgrade()

    expect(steps).toEqual(['staged'])
    expect(result).toMatchObject({ outcome: 'refused', why: expect.stringContaining(why) })
    expect(world.running).toBe('1.0.0 serves')
    expect(world.installed).toEqual(['hookline 1.0.0'])
  })
}

test('a release that nobody signed is taken where its owner says so, but not with a sum that is wrong', async () => {
  using world = new UpgradeWorld()
  world.publish(NEXT, { sum: '0'.repeat(64) })
  const wrong = await world.upgrade({ isUnverified: true })
  world.publish(NEXT)
  rmSync(world.signature)

  const unsigned = await world.upgrade({ isUnverified: true })

  expect(wrong.result).toMatchObject({ outcome: 'refused' })
  expect(unsigned.result).toMatchObject({ outcome: 'upgraded', to: '2.0.0' })
})
