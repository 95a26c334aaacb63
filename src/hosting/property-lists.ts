// What macOS is told of the relay: the bundle that permissions are given to, what that may do, and the
// agent that starts it.

import { propertyList } from './property-list.ts'

/** Names the bundle, the agent, and with them what the owner has permitted: it must never change. */
export const BUNDLE_ID = 'net.hookline.relay'

export type AgentOrder = {
  readonly executable: string
  readonly environment: Readonly<Record<string, string>>
  /** Takes standard output and standard error. */
  readonly logPath: string
}

/** launchd's own is 256; every webhook, caller and database file needs one. */
const OPEN_FILES_MAX = 8_192
/** A send past its point of no return gets 60 s to end; launchd's own is 20 s. */
const EXIT_SECONDS_MAX = 75
/** Readable by the owner only, as the number that launchd wants: 0077. */
const UMASK = 0o077

/** The LaunchAgent (launchd.plist(5)): Apple events need the session at the screen, called Aqua. */
export function launchAgentText({ executable, environment, logPath }: AgentOrder): string {
  return propertyList({
    Label: BUNDLE_ID,
    // Shown in the login items under the name of the bundle.
    AssociatedBundleIdentifiers: [BUNDLE_ID],
    ProgramArguments: [executable, 'serve'],
    EnvironmentVariables: environment,
    RunAtLoad: true,
    KeepAlive: true,
    LimitLoadToSessionType: 'Aqua',
    // Anything less has its timers stretched and its processor time cut.
    ProcessType: 'Interactive',
    ThrottleInterval: 10,
    ExitTimeOut: EXIT_SECONDS_MAX,
    Umask: UMASK,
    SoftResourceLimits: { NumberOfFiles: OPEN_FILES_MAX },
    StandardOutPath: logPath,
    StandardErrorPath: logPath,
  })
}

/** The bundle's Info.plist: an app without windows, whose reasons stand in the system's questions. */
export function bundleInfoText(version: string): string {
  return propertyList({
    CFBundleIdentifier: BUNDLE_ID,
    CFBundleName: 'Hookline',
    CFBundleDisplayName: 'Hookline',
    CFBundleExecutable: 'hookline',
    CFBundlePackageType: 'APPL',
    CFBundleInfoDictionaryVersion: '6.0',
    CFBundleShortVersionString: version,
    // Numbers only.
    CFBundleVersion: version.replace(/[^0-9.].*$/, ''),
    // The oldest that Bun's executables run on.
    LSMinimumSystemVersion: '13.0',
    LSUIElement: true,
    LSBackgroundOnly: true,
    NSAppleEventsUsageDescription: 'Hookline sends your messages through Messages.',
    NSLocalNetworkUsageDescription: 'Hookline delivers events to programs on your network.',
  })
}

/**
 * What the hardened runtime must allow: without the first two a Bun executable dies at its start (Bun's
 * guide to code signing), without the last Apple events are refused and nobody is asked.
 */
export function entitlementsText(): string {
  return propertyList({
    'com.apple.security.cs.allow-jit': true,
    'com.apple.security.cs.allow-unsigned-executable-memory': true,
    'com.apple.security.automation.apple-events': true,
  })
}
