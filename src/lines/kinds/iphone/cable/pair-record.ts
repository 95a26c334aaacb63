// What a computer and a phone trust each other by: usbmuxd keeps it, with keys in it. Nothing of it is
// kept here beyond one session, nor as text that an error or a log could show.

import { createSecureContext, type SecureContext } from 'node:tls'

import type { MuxDevice } from './mux-device.ts'
import {
  bytesOf,
  dictionaryOf,
  parsePropertyList,
  textOf,
  type PropertyDictionary,
} from './property-list.ts'
import type { Usbmux } from './usbmux.ts'

export type PairRecord = {
  readonly hostId: string
  readonly systemBuid: string
  /** Certificate and key of this computer, as TLS wants them: it gives neither back. */
  readonly secureContext: SecureContext
}

/**
 * The record of `device`; `absent` where there is none, `unusable` where it lacks what is needed.
 * Rejects with a `MuxError` where usbmuxd could not be asked.
 */
export async function readPairRecord(
  mux: Usbmux,
  device: MuxDevice,
  signal: AbortSignal,
): Promise<PairRecord | 'absent' | 'unusable'> {
  // By either name: usbmuxd may have stored it before it wrote UDIDs as it does now.
  const bytes =
    (await mux.pairRecord(device.serial, signal)) ??
    (device.serial === device.udid ? null : await mux.pairRecord(device.udid, signal))
  if (bytes === null) return 'absent'
  const record = dictionaryIn(bytes)
  const hostId = textOf(record?.['HostID'])
  const secureContext = record === null ? null : contextOf(record)
  if (hostId === null || secureContext === null) return 'unusable'
  const systemBuid = textOf(record?.['SystemBUID']) ?? (await mux.buid(signal))
  return { hostId, systemBuid, secureContext }
}

function dictionaryIn(bytes: Uint8Array): PropertyDictionary | null {
  try {
    return dictionaryOf(parsePropertyList(bytes))
  } catch {
    return null
  }
}

function contextOf(record: PropertyDictionary): SecureContext | null {
  const certificate = bytesOf(record['HostCertificate'])
  const key = bytesOf(record['HostPrivateKey'])
  if (certificate === null || key === null) return null
  try {
    return createSecureContext({ cert: Buffer.from(certificate), key: Buffer.from(key) })
  } catch {
    // They are no PEM, or not of one pair.
    return null
  }
}
