// The HTTPS certificate of the relay. It is read at the start and again every minute, so that a renewed
// certificate is served without a restart.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'

import type { Finding } from '../domain/finding.ts'
import { timestamp } from '../domain/ids.ts'
import { DAY_MS, MINUTE_MS } from '../domain/time.ts'
import type { Core } from '../storage/core.ts'
import { whenAborted } from '../system/clock.ts'
import { isReadableByAll, readTextOrNull } from '../system/files.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Service } from '../system/service.ts'
import { isLoopbackName } from './hosts.ts'

/** Paths of PEM files; both are null if the relay serves HTTP. */
export type TlsFiles = { readonly tlsCert: string | null; readonly tlsKey: string | null }

type Place = TlsFiles & { readonly host: string; readonly publicUrl: string | null }

export type TlsPair = { readonly cert: string; readonly key: string }

type Certificate = TlsPair & { readonly from: number; readonly until: number }

/** The files aren't a certificate and its key; the message names the file and the problem. */
class TlsError extends Error {
  override readonly name = 'TlsError'
}

/** Certificates are usually renewed earlier, with a third of their time left. */
const EXPIRES_SOON_MS = 14 * DAY_MS
const WARNING = { severity: 'warning', key: null, depends_on: null } as const

/** Watches the certificate files, and warns if the relay serves other machines without HTTPS. */
export class TlsWatch implements Service {
  readonly name = 'tls'
  readonly #core: Core
  readonly #place: Place
  readonly #renew: (pair: TlsPair) => void
  #served: Certificate | null
  #problem: string | null = null

  /**
   * `renew` serves another pair from then on, or throws and keeps the previous one. The constructor throws if the
   * files can't be served.
   */
  constructor(core: Core, place: Place, renew: (pair: TlsPair) => void) {
    this.#core = core
    this.#place = place
    this.#renew = renew
    this.#served = readTls(place)
  }

  /** The certificate and key that are served now; null for HTTP. */
  get pair(): TlsPair | null {
    return this.#served
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#served === null) await whenAborted(signal)
    while (!signal.aborted) {
      await this.#core.clock.sleep(MINUTE_MS, signal)
      if (!signal.aborted) this.#check()
    }
  }

  findings(): readonly Finding[] {
    if (this.#served === null) return exposureFindings(this.#place)
    const { from, until } = this.#served
    const leftMs = until - this.#core.clock.now()
    const end = isoTime(timestamp(until))
    const isSoon = leftMs < Math.min(EXPIRES_SOON_MS, (until - from) / 4)
    const notRenewed: Finding = {
      ...WARNING,
      code: 'certificate_not_renewed',
      title: 'The new certificate cannot be used',
      why: `${this.#problem} The previous certificate is served, which is valid until ${end}.`,
      fix: 'Put a certificate and its key in the place of both files. They are read again each minute.',
    }
    const expires: Finding = {
      ...WARNING,
      severity: leftMs > 0 ? 'warning' : 'error',
      code: 'certificate_expires',
      title: leftMs > 0 ? 'The certificate expires soon' : 'The certificate has expired',
      why: `The certificate in ${this.#place.tlsCert} is valid until ${end}.`,
      fix: 'Renew it. The new files are served within a minute, without a restart.',
    }
    const { tlsKey } = this.#place
    return [
      ...(this.#problem === null ? [] : [notRenewed]),
      ...(isSoon ? [expires] : []),
      ...(tlsKey !== null && isReadableByAll(tlsKey) ? [readableKey(tlsKey)] : []),
    ]
  }

  #check(): void {
    try {
      const found = readTls(this.#place)
      this.#problem = null
      const { cert, key } = this.#served ?? {}
      if (found === null || (found.cert === cert && found.key === key)) return
      this.#renew(found)
      this.#served = found
      this.#core.log.info('certificate renewed', { until: isoTime(timestamp(found.until)) })
    } catch (error) {
      if (this.#problem === null) this.#core.log.warn('certificate not renewed', { error })
      this.#problem = error instanceof Error ? error.message : String(error)
    }
  }
}

function readableKey(tlsKey: string): Finding {
  return {
    ...WARNING,
    code: 'tls_key_readable',
    title: 'Every user of this machine can read the key of the certificate',
    why: `With ${tlsKey}, another program can answer in place of this relay.`,
    fix: `Run: chmod o-rwx '${tlsKey}'`,
  }
}

function exposureFindings({ host, publicUrl }: Place): readonly Finding[] {
  if (isLoopbackName(host) || publicUrl?.startsWith('https:') === true) return []
  return [
    {
      ...WARNING,
      severity: 'info',
      code: 'lan_without_tls',
      title: 'Other machines reach this relay without encryption',
      why: `It listens on ${host} by HTTP: others on the network can read passwords and messages.`,
      fix: 'Set --tls-cert and --tls-key, or put a proxy with TLS in front of it and set --public-url.',
    },
  ]
}

const PEM_BLOCK = /^-----BEGIN ([A-Z0-9 ]+)-----[^-]+^-----END \1-----/gm

/** Reads the certificate and the key; null if no files are set. Throws a TlsError if they can't be served. */
export function readTls({ tlsCert, tlsKey }: TlsFiles): Certificate | null {
  if (tlsCert === null && tlsKey === null) return null
  if (tlsCert === null || tlsKey === null) {
    throw new TlsError('--tls-cert and --tls-key belong together: set both, or neither.')
  }
  const [cert, key] = [readPem(tlsCert), readPem(tlsKey)]
  const noCertificate = `${tlsCert} holds no certificate in PEM.`
  const certificate = parsedOr(noCertificate, () => new X509Certificate(cert))
  const noKey = `${tlsKey} holds no private key in PEM, or one with a passphrase.`
  const privateKey = parsedOr(noKey, () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TlsError(`The key in ${tlsKey} is not that of the first certificate in ${tlsCert}.`)
  }
  parsedOr(`${tlsCert} is cut off, or holds something else than certificates in PEM.`, () => {
    // A half-written file may end anywhere, and a server ignores a block without an end.
    if (/^-/m.test(cert.replaceAll(PEM_BLOCK, ''))) throw new Error('A block has no end.')
    createSecureContext({ cert, key })
  })
  const [from, until] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()]
  return { cert, key, from, until }
}

function readPem(path: string): string {
  const text = readTextOrNull(path)
  if (text === null) throw new TlsError(`${path} cannot be read.`)
  return text
}

function parsedOr<T>(problem: string, parse: () => T): T {
  try {
    return parse()
  } catch {
    throw new TlsError(problem)
  }
}
