// The certificate that openssl makes by our request, looked at; only if there is an openssl.

import { expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { useSecurity, OPENSSL, localIdentity } from '../../src/hosting/code-signing.ts'
import { systemClock } from '../../src/system/clock.ts'
import { processRunner, type RunProcess } from '../../src/system/process.ts'
import { systemRandom } from '../../src/system/random.ts'
import { wordsOf } from '../support/command-line.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { NEVER, RecordingTools } from './recording-tools.ts'

const CODE_SIGNING = '1.3.6.1.5.5.7.3.3'

testNeeding(OPENSSL, existsSync(OPENSSL))(
  'the certificate is for signing code, and comes packed as old tools can open it',
  async () => {
    using folder = new ScratchFolder()
    const real = processRunner(systemClock)
    const seen: { certificate: X509Certificate; opened: string }[] = []
    const run: RunProcess = async (order, signal) => {
      if (order.path === OPENSSL) return real(order, signal)
      const words = wordsOf(order.input ?? '')
      if (words[0] === 'create-keychain') writeKeychain(words.at(-1) ?? '')
      if (words[0] === 'import') seen.push(await lookAt(folder.path, words))
      return { end: 'exited', exitCode: 0, stdout: '', stderr: '' }
    }

    const identity = await localIdentity({ run, random: systemRandom }, folder.path, NEVER)
    const again = await localIdentity({ run, random: systemRandom }, folder.path, NEVER)

    const [{ certificate, opened } = { certificate: null, opened: '' }] = seen
    expect(identity.hash).toBe(certificate?.fingerprint.replaceAll(':', '') ?? '')
    expect(certificate?.keyUsage).toEqual([CODE_SIGNING])
    expect(certificate?.ca).toBe(false)
    expect(certificate?.subject).toBe('CN=Hookline on this Mac')
    expect(yearsOf(certificate)).toBe(20)
    expect(opened).toContain('MAC: sha1')
    expect(opened).toContain('pbeWithSHA1And3-KeyTripleDES-CBC')
    expect(again).toEqual(identity)
    expect(seen.length).toBe(1)
    expect(existsSync(join(folder.path, 'key.pem'))).toBe(false)
  },
  20_000,
)

function writeKeychain(path: string): void {
  void Bun.write(path, 'a keychain')
}

/** What is about to be imported, with the password that goes with it. */
async function lookAt(folder: string, words: readonly string[]) {
  const password = words[words.indexOf('-P') + 1] ?? ''
  const command = [
    'pkcs12',
    '-info',
    '-noout',
    '-in',
    words[1] ?? '',
    '-passin',
    `pass:${password}`,
  ]
  const { stdout, stderr } = Bun.spawnSync([OPENSSL, ...command])
  const certificate = new X509Certificate(readFileSync(join(folder, 'certificate.pem')))
  return { certificate, opened: stdout.toString() + stderr.toString() }
}

function yearsOf(certificate: X509Certificate | null): number {
  const [from, to] = [certificate?.validFrom ?? '', certificate?.validTo ?? ''].map(Date.parse)
  return Math.round(((to ?? 0) - (from ?? 0)) / 86_400_000 / 365)
}

test('a path with a space, a quote and a backslash reaches security as one word', async () => {
  const tools = new RecordingTools()
  const words = ['unlock-keychain', '-p', '07af', '/Volumes/a "b" \\c/signing.keychain-db']

  await useSecurity(tools.run, { words, purpose: 'try' }, NEVER)

  const [[, flag, input = ''] = []] = tools.calls
  expect(flag).toBe('-i')
  expect(input).toBe('< unlock-keychain -p 07af "/Volumes/a \\"b\\" \\\\c/signing.keychain-db"')
  expect(wordsOf(input.slice(2))).toEqual(words)
})
