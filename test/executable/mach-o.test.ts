// The executables for Macs, as the build leaves them: for which systems they are, and whether their
// signatures hold. Whether they run, only a Mac can say.

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'

import { readMachO, signatureProblem } from '../../scripts/mach-o.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT } from '../support/source-files.ts'

type Built = {
  readonly arm64: Uint8Array
  readonly x64: Uint8Array
  /** What the build script printed. */
  readonly told: string
}

const TARGETS = ['darwin-arm64', 'darwin-x64'] as const
/** Both take four seconds; the rest is for fetching the runtimes, once, and for a machine with other things to do. */
const BUILD_MS_MAX = 300_000

const built = buildForMacs()
const ifBuilt = testNeeding(
  `Bun for Macs: ${typeof built === 'string' ? built : ''}`,
  typeof built !== 'string',
)

ifBuilt(
  'the one for Apple processors runs from macOS 13 on, by an ad hoc signature that holds, and that sees one changed bit',
  () => {
    const executable = readMachO(theBuilt().arm64)

    expect(executable).toEqual({
      processor: 'arm64',
      minimumMacos: '13.0',
      signature: {
        identifier: 'a.out',
        isAdHoc: true,
        isMadeByLinker: true,
        isHardened: false,
        hasEntitlements: false,
        hashName: 'sha256',
        pageCount: expect.any(Number),
        wrongPageCount: 0,
        coversAll: true,
      },
    })
    expect(executable.signature?.pageCount).toBeGreaterThan(20_000)
    expect(signatureProblem(executable)).toBeNull()

    const changed = theBuilt().arm64.slice()
    changed[50_000_000] = (changed[50_000_000] ?? 0) ^ 1
    const spoilt = readMachO(changed)
    expect(spoilt.signature?.wrongPageCount).toBe(1)
    expect(signatureProblem(spoilt)).toStartWith('differs from its signature in 1 of ')
  },
)

ifBuilt('the one for Intel processors must be signed again before it runs', () => {
  const executable = readMachO(theBuilt().x64)

  expect(executable).toEqual({
    processor: 'x64',
    minimumMacos: '13.0',
    // That of bun's makers, for the bun without our program in it.
    signature: {
      identifier: 'bun',
      isAdHoc: false,
      isMadeByLinker: false,
      isHardened: true,
      hasEntitlements: true,
      hashName: 'sha256',
      pageCount: expect.any(Number),
      wrongPageCount: expect.any(Number),
      coversAll: false,
    },
  })
  expect(executable.signature?.wrongPageCount).toBeGreaterThan(0)
  expect(signatureProblem(executable)).toMatch(/^differs from its signature in \d+ of \d+ pages$/)
})

ifBuilt('the build says which of them must be signed', () => {
  const { told } = theBuilt()

  expect(told).toContain('hookline-darwin-arm64: from macOS 13.0 on; signature is valid\n')
  expect(told).toContain('codesign --force --sign - hookline-darwin-x64\n')
  expect(told).not.toContain('codesign --force --sign - hookline-darwin-arm64')
})

test('an executable without a signature is seen to have none', () => {
  const buildVersion = [0x32, 24, 1, 0x000c0300, 0x001a0000, 0]
  const header = [0xfeedfacf, 0x0100000c, 0, 2, 1, 24, 0, 0]

  const executable = readMachO(
    new Uint8Array(Uint32Array.from([...header, ...buildVersion]).buffer),
  )

  expect(executable).toEqual({ processor: 'arm64', minimumMacos: '12.3', signature: null })
  expect(signatureProblem(executable)).toBe('has no signature')
})

test('what is no executable for a Mac is refused, not guessed at', () => {
  const script = new TextEncoder().encode('#!/bin/sh\n'.padEnd(64))
  const universal = Uint8Array.from([0xca, 0xfe, 0xba, 0xbe, ...new Uint8Array(60)])

  expect(() => readMachO(script)).toThrow('Not a thin 64-bit executable')
  expect(() => readMachO(universal)).toThrow('Not a thin 64-bit executable')
})

/** The two executables, or the reason why they cannot be built on this machine. */
function buildForMacs(): Built | string {
  using folder = new ScratchFolder()
  const targets = TARGETS.flatMap((target) => ['--target', target])
  const build = bun(['scripts/build.ts', ...targets, '--to', folder.path])
  if (build.exitCode !== 0) {
    const why = whyNoRuntime(folder)
    if (why !== null) return why
    throw new Error(`The build for Macs failed:\n${build.stderr.toString()}`)
  }
  return {
    arm64: readFileSync(folder.file('hookline-darwin-arm64')),
    x64: readFileSync(folder.file('hookline-darwin-x64')),
    told: build.stdout.toString(),
  }
}

/** A program of one line can be built wherever bun has its runtimes for Macs, or can fetch them. */
function whyNoRuntime(folder: ScratchFolder): string | null {
  const source = folder.file('one-line.ts')
  writeFileSync(source, 'export {}\n')
  for (const target of TARGETS) {
    const outfile = folder.file(target)
    const made = bun(['build', '--compile', `--target=bun-${target}`, source, '--outfile', outfile])
    if (made.exitCode !== 0) return made.stderr.toString().trim() || 'bun gives no reason.'
  }
  return null
}

function bun(args: readonly string[]): Bun.SyncSubprocess<'pipe', 'pipe'> {
  return Bun.spawnSync([process.execPath, ...args], { cwd: ROOT, timeout: BUILD_MS_MAX })
}

function theBuilt(): Built {
  if (typeof built === 'string') throw new Error(built)
  return built
}
