// What usbmuxd says of the devices that hang on it.

import { normalUdid } from '../udid.ts'
import {
  dictionaryOf,
  numberOf,
  textOf,
  type PropertyDictionary,
  type PropertyValue,
} from './property-list.ts'

/** One attachment of a phone: plugged in again it has another `deviceId`. */
export type MuxDevice = {
  /** The phone's own id, always in the form of `normalUdid`. */
  readonly udid: string
  /** The same as usbmuxd writes it: its pair record goes by this name. */
  readonly serial: string
  /** What usbmuxd calls this attachment; it means nothing to another usbmuxd, or to a later one. */
  readonly deviceId: number
  readonly transport: 'usb' | 'network'
}

export type MuxEvent =
  | { readonly event: 'attached'; readonly device: MuxDevice }
  | { readonly event: 'detached'; readonly deviceId: number }
  /** The owner has just tapped Trust. */
  | { readonly event: 'paired'; readonly deviceId: number }

const SERIAL_LENGTH_MAX = 64

/** The event that a message of a listening connection tells; null for what we do not know. */
export function muxEvent(message: PropertyDictionary): MuxEvent | null {
  const kind = textOf(message['MessageType'])
  if (kind === 'Attached') {
    const device = muxDevice(message)
    return device === null ? null : { event: 'attached', device }
  }
  const deviceId = numberOf(message['DeviceID'])
  if (deviceId === null) return null
  if (kind === 'Detached') return { event: 'detached', deviceId }
  return kind === 'Paired' ? { event: 'paired', deviceId } : null
}

/** The device in an entry of a device list, or in an event; null where it does not say which. */
export function muxDevice(entry: PropertyValue): MuxDevice | null {
  const properties = dictionaryOf(dictionaryOf(entry)?.['Properties'])
  const serial = textOf(properties?.['SerialNumber'])
  const deviceId = numberOf(dictionaryOf(entry)?.['DeviceID'] ?? properties?.['DeviceID'])
  if (serial === null || deviceId === null) return null
  if (serial === '' || serial.length > SERIAL_LENGTH_MAX) return null
  const isNetwork = textOf(properties?.['ConnectionType']) === 'Network'
  const transport = isNetwork ? 'network' : 'usb'
  return { udid: normalUdid(serial), serial, deviceId, transport }
}
