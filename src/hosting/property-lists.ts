// Property lists for macOS: the LaunchAgent, the bundle, and the bundle's entitlements.

/** The name of the bundle and the agent. Must never change: permissions are tied to it. */
export const BUNDLE_ID = 'net.hookline.relay'

type AgentOrder = {
  readonly executable: string
  /** The command of the service. */
  readonly task?: string | undefined
  readonly environment: Readonly<Record<string, string>>
  /** The file for standard output and standard error. */
  readonly logPath: string
}

/** The LaunchAgent (launchd.plist(5)): Apple events need the session at the screen, called Aqua. */
export function launchAgentText({
  executable,
  task = 'serve',
  environment,
  logPath,
}: AgentOrder): string {
  return propertyList({
    Label: BUNDLE_ID,
    // macOS then shows the name of the bundle in the login items.
    AssociatedBundleIdentifiers: [BUNDLE_ID],
    ProgramArguments: [executable, task],
    EnvironmentVariables: environment,
    RunAtLoad: true,
    KeepAlive: true,
    LimitLoadToSessionType: 'Aqua',
    // macOS stretches the timers of any other type, and cuts its processor time.
    ProcessType: 'Interactive',
    ThrottleInterval: 10,
    // Seconds. A send past its point of no return has 60 s to end; launchd's default is 20 s.
    ExitTimeOut: 75,
    // Only the owner can read new files.
    Umask: 0o077,
    // launchd's default is 256, and every connection and database file needs one.
    SoftResourceLimits: { NumberOfFiles: 8_192 },
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
    // macOS allows only numbers here.
    CFBundleVersion: version.replace(/[^0-9.].*$/, ''),
    // The oldest macOS that Bun's executables run on.
    LSMinimumSystemVersion: '13.0',
    LSUIElement: true,
    LSBackgroundOnly: true,
    NSAppleEventsUsageDescription: 'Hookline sends your messages through Messages.',
    NSLocalNetworkUsageDescription: 'Hookline delivers events to programs on your network.',
  })
}

/**
 * Exceptions from the hardened runtime. Without the first two, a Bun executable dies when it starts (Bun's guide
 * to code signing); without the last one, macOS refuses Apple events without a dialog.
 */
export function entitlementsText(): string {
  return propertyList({
    'com.apple.security.cs.allow-jit': true,
    'com.apple.security.cs.allow-unsigned-executable-memory': true,
    'com.apple.security.automation.apple-events': true,
  })
}

/** Numbers must be whole. */
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

/** Array.isArray doesn't narrow readonly arrays. */
function isList(value: object): value is readonly PropertyValue[] {
  return Array.isArray(value)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
