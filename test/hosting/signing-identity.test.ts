// The certificate that openssl makes by our request, looked at; only where there is an openssl.

import { expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { OPENSSL, localIdentity } from '../../src/hosting/signing-identity.ts'
import { systemClock } from '../../src/system/clock.ts'
import { processRunner, type RunProcess } from '../../src/system/process.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { NEVER } from './recording-tools.ts'

const CODE_SIGNING = '1.3.6.1.5.5.7.3.3'

test.if(existsSync(OPENSSL))(
  'the certificate is for signing code, and comes packed as old tools can open it',
  async () => {
    using folder = new ScratchFolder()
    const real = processRunner(systemClock)
    const seen: { certificate: X509Certificate; opened: string }[] = []
    const run: RunProcess = async (order, signal) => {
      if (order.path === OPENSSL) return real(order, signal)
      if (order.args[0] === 'create-keychain') writeKeychain(order.args.at(-1) ?? '')
      if (order.args[0] === 'import') seen.push(await lookAt(folder.path, order.args))
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
async function lookAt(folder: string, args: readonly string[]) {
  const password = args[args.indexOf('-P') + 1] ?? ''
  const command = ['pkcs12', '-info', '-noout', '-in', args[1] ?? '', '-passin', `pass:${password}`]
  const { stdout, stderr } = Bun.spawnSync([OPENSSL, ...command])
  const certificate = new X509Certificate(readFileSync(join(folder, 'certificate.pem')))
  return { certificate, opened: stdout.toString() + stderr.toString() }
}

function yearsOf(certificate: X509Certificate | null): number {
  const [from, to] = [certificate?.validFrom ?? '', certificate?.validTo ?? ''].map(Date.parse)
  return Math.round(((to ?? 0) - (from ?? 0)) / 86_400_000 / 365)
}
