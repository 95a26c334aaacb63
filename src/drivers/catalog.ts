import { join } from 'node:path'

import type { LineDriver } from '../domain/driver.ts'
import { PhoneAnchors } from './iphone/phone-anchors.ts'
import { createMacDriver, type MacTools } from './mac/driver.ts'
import { recordTrace, type TraceEnd, type TraceOrder } from './mac/trace.ts'
import { createSimulatedDriver } from './simulated/driver.ts'

/** The options of every driver, by the names that they have in `config.ts`. */
export type DriverOptions = {
  /** `darwin` on macOS. */
  readonly platform: string
  readonly homeFolder: string
  readonly mac: 'auto' | 'on' | 'off'
  readonly macPhoneNumber: string | null
  readonly macChatDb: string | null
  readonly macOsascript: string
  readonly macOpen: string
  readonly macPgrep: string
  readonly macCaffeinate: string
  readonly iphone: 'auto' | 'on' | 'off'
  readonly usbmuxdAddress: string | null
  readonly simulatedLines: number
  readonly simulatedDelayMs: number
  /** Where the ledger of the simulated network lies. */
  readonly simulatedLedgerPath: string
}

/**
 * Every kind of device. The simulated one is there also when no simulated line is asked for: lines
 * of earlier starts are then known as not configured.
 */
export function createDrivers(options: DriverOptions, tools: MacTools): readonly LineDriver[] {
  const simulated = createSimulatedDriver(
    {
      lineCount: options.simulatedLines,
      delayMs: options.simulatedDelayMs,
      ledgerPath: options.simulatedLedgerPath,
    },
    tools,
  )
  return hasMac(options) ? [macDriver(options, tools), simulated] : [simulated]
}

/** Where Messages keeps its database: of the option, or in the home folder. */
export function chatDbPath({
  macChatDb,
  homeFolder,
}: Pick<DriverOptions, 'macChatDb' | 'homeFolder'>): string {
  return macChatDb ?? join(homeFolder, 'Library', 'Messages', 'chat.db')
}

/**
 * The watch over the iPhones that hold the numbers of Mac lines; null where it is off. `auto` is on
 * where there can be a Mac line.
 */
export function createPhoneAnchors(options: DriverOptions, tools: MacTools): PhoneAnchors | null {
  const { iphone, usbmuxdAddress } = options
  const isOn = iphone === 'on' || (iphone === 'auto' && hasMac(options))
  return isOn ? new PhoneAnchors(usbmuxdAddress, tools) : null
}

function hasMac({ mac, platform }: DriverOptions): boolean {
  return mac === 'on' || (mac === 'auto' && platform === 'darwin')
}

function macDriver(options: DriverOptions, tools: MacTools): LineDriver {
  return createMacDriver(
    {
      chatDbPath: chatDbPath(options),
      phoneNumber: options.macPhoneNumber,
      platform: options.platform,
      paths: {
        osascript: options.macOsascript,
        open: options.macOpen,
        pgrep: options.macPgrep,
        caffeinate: options.macCaffeinate,
      },
    },
    tools,
  )
}

export type { TraceEntry } from './mac/trace.ts'

/** Writes down what Messages on this computer does in its database: `hookline mac trace`. */
export function recordMacTrace(order: TraceOrder, signal: AbortSignal): Promise<TraceEnd> {
  return recordTrace(order, signal)
}
