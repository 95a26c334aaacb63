import { join } from 'node:path'

import type { PhoneChoice } from '../domain/value-kind.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { RunProcess, StartReadProcess } from '../system/process.ts'
import type { Random } from '../system/random.ts'
import type { Service } from '../system/service.ts'
import type { LineDriver } from './driver.ts'
import { Launcher } from './kinds/iphone/agent/launcher.ts'
import { UsbCable } from './kinds/iphone/cable/phone-watch.ts'
import { createIphoneDriver, type IphoneDriver } from './kinds/iphone/driver.ts'
import { PhoneAnchors } from './kinds/iphone/number-anchor.ts'
import { createMacDriver, type MacTools } from './kinds/mac/driver.ts'
import { MessagesScript, type ScriptTools } from './kinds/mac/script-runner.ts'
import { recordTrace, type TraceEnd, type TraceOrder } from './kinds/mac/trace.ts'
import { createSimulatedDriver } from './kinds/simulated/driver.ts'

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
  readonly iphoneLines: readonly PhoneChoice[] | null
  readonly iphoneAgent: 'attach' | 'go-ios' | 'xcodebuild'
  readonly iphoneAgentCommand: readonly string[] | null
  readonly iphoneTunnelCommand: readonly string[] | null
  readonly iphoneAgentPort: number
  readonly iphoneAgentBundle: string
  readonly iphoneGoIos: string
  readonly goIosFolder: string
  readonly iphoneXcodebuild: string
  readonly iphoneXctestrun: string | null
  readonly simulatedLines: number
  readonly simulatedDelayMs: number
  /** Where the ledger of the simulated network lies. */
  readonly simulatedLedgerPath: string
}

/** A Mac has the wall clock of this machine, the simulated network that of the relay. */
type Tools = MacTools & { readonly relayClock: Clock }

/**
 * Every kind of device. The simulated one is there also when no simulated line is asked for: lines
 * of earlier starts are then known as not configured.
 */
export function createDrivers(options: DriverOptions, tools: Tools): readonly LineDriver[] {
  const simulated = createSimulatedDriver(
    {
      lineCount: options.simulatedLines,
      delayMs: options.simulatedDelayMs,
      ledgerPath: options.simulatedLedgerPath,
    },
    { ...tools, clock: tools.relayClock },
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

type IphoneTools = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly run: RunProcess
  readonly startRead: StartReadProcess
}

/** What there is of iPhones on a cable. */
export type Iphones = {
  /** Null where none of them is a line. */
  readonly driver: IphoneDriver | null
  /** The watch over those that hold the numbers of Mac lines. */
  readonly anchors: PhoneAnchors
  /** The loops that both need. */
  readonly services: readonly Service[]
}

/** Null where nobody watches the cable; `auto` does where there can be a Mac line, or iPhones are lines. */
export function createIphones(options: DriverOptions, tools: IphoneTools): Iphones | null {
  const { iphone, iphoneLines, usbmuxdAddress, iphoneAgentPort } = options
  const isAuto = hasMac(options) || iphoneLines !== null
  if (iphone === 'off' || (iphone === 'auto' && !isAuto)) return null
  const cable = new UsbCable(usbmuxdAddress, tools)
  const anchors = new PhoneAnchors(cable)
  if (iphoneLines === null) return { driver: null, anchors, services: [cable] }
  const launcher = launcherOf(options, tools)
  const phones = { phones: iphoneLines, agentPort: iphoneAgentPort }
  const driver = createIphoneDriver(phones, { ...tools, cable, launcher })
  return { driver, anchors, services: [cable, ...(launcher === null ? [] : [launcher])] }
}

function hasMac({ mac, platform }: DriverOptions): boolean {
  return mac === 'on' || (mac === 'auto' && platform === 'darwin')
}

function launcherOf(options: DriverOptions, tools: IphoneTools): Launcher | null {
  return Launcher.of(
    {
      preset: options.iphoneAgent,
      agentCommand: options.iphoneAgentCommand,
      tunnelCommand: options.iphoneTunnelCommand,
      goIosPath: options.iphoneGoIos,
      folder: options.goIosFolder,
      xcodebuildPath: options.iphoneXcodebuild,
      xctestrunPath: options.iphoneXctestrun,
      bundleId: options.iphoneAgentBundle,
      port: options.iphoneAgentPort,
    },
    { ...tools, start: tools.startRead },
  )
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

export type { ScriptCall } from './kinds/mac/script-runner.ts'
export type { TraceEntry } from './kinds/mac/trace.ts'

/** Whether a run of the script that only asks for the account comes through. */
export async function askMessages(tools: ScriptTools, signal: AbortSignal): Promise<boolean> {
  return (await new MessagesScript(tools).account(signal)).answer === 'account'
}

/** Writes down what Messages on this computer does in its database: `hookline mac trace`. */
export function recordMacTrace(order: TraceOrder, signal: AbortSignal): Promise<TraceEnd> {
  return recordTrace(order, signal)
}
