// Property lists for macOS: the LaunchAgent, the bundle that has the permissions, and its entitlements.

/** Name of the bundle and the agent. Must never change: permissions are tied to it. */
export const BUNDLE_ID = 'net.hookline.relay'

export type AgentOrder = {
  readonly executable: string
  /** Command of the service. */
  readonly task?: string | undefined
  readonly environment: Readonly<Record<string, string>>
  /** File for standard output and standard error. */
  readonly logPath: string
}

/** launchd's default is 256, and every connection and database file needs one. */
const OPEN_FILES_MAX = 8_192
/** A send past its point of no return has 60 s to end; launchd's default is 20 s. */
const EXIT_SECONDS_MAX = 75
/** 0077 as a number: readable by the owner only. */
const UMASK = 0o077

/** The LaunchAgent (launchd.plist(5)): Apple events need the session at the screen, called Aqua. */
export function launchAgentText({
  executable,
  task = 'serve',
  environment,
  logPath,
}: AgentOrder): string {
  return propertyList({
    Label: BUNDLE_ID,
    // Shows the name of the bundle in the login items.
    AssociatedBundleIdentifiers: [BUNDLE_ID],
    ProgramArguments: [executable, task],
    EnvironmentVariables: environment,
    RunAtLoad: true,
    KeepAlive: true,
    LimitLoadToSessionType: 'Aqua',
    // Any other type has its timers stretched and its processor time cut.
    ProcessType: 'Interactive',
    ThrottleInterval: 10,
    ExitTimeOut: EXIT_SECONDS_MAX,
    Umask: UMASK,
    SoftResourceLimits: { NumberOfFiles: OPEN_FILES_MAX },
    StandardOutPath: logPath,
    StandardErrorPath: logPath,
  })
}

/** Info.plist of an app without windows, with the reasons that permission dialogs show. */
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
 * Exceptions from the hardened runtime: without the first two a Bun executable dies at its start (Bun's
 * guide to code signing), without the last Apple events are refused without a dialog.
 */
export function entitlementsText(): string {
  return propertyList({
    'com.apple.security.cs.allow-jit': true,
    'com.apple.security.cs.allow-unsigned-executable-memory': true,
    'com.apple.security.automation.apple-events': true,
  })
}

/** Numbers are whole. */
export type PropertyValue =
  | string
  | number
  | boolean
  | readonly PropertyValue[]
  | { readonly [key: string]: PropertyValue }

const HEAD = [
  '<?xml version="1.0" encoding="UTF-8"?>',
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
  '<plist version="1.0">',
]

function propertyList(root: { readonly [key: string]: PropertyValue }): string {
  return [...HEAD, ...element(root, ''), '</plist>', ''].join('\n')
}

function element(value: PropertyValue, indent: string): readonly string[] {
  if (typeof value === 'string') return [`${indent}<string>${escaped(value)}</string>`]
  if (typeof value === 'number') return [`${indent}<integer>${value}</integer>`]
  if (typeof value === 'boolean') return [`${indent}<${value ? 'true' : 'false'}/>`]
  const inner = `${indent}  `
  if (isList(value)) {
    const elements = value.flatMap((one) => element(one, inner))
    return [`${indent}<array>`, ...elements, `${indent}</array>`]
  }
  const pairs = Object.entries(value).flatMap(([key, one]) => [
    `${inner}<key>${escaped(key)}</key>`,
    ...element(one, inner),
  ])
  return [`${indent}<dict>`, ...pairs, `${indent}</dict>`]
}

/** Array.isArray does not narrow readonly arrays. */
function isList(value: object): value is readonly PropertyValue[] {
  return Array.isArray(value)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
