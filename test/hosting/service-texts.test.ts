// The texts that systemd and launchd start the relay by, whole. The unit has nothing that needs a namespace: Protect,
// Private, ReadOnly, TemporaryFile, MemoryDeny, SystemCall and CapabilityBounding break it for a user's systemd.

import { expect, test } from 'bun:test'

import plist from 'plist'

import {
  bundleInfoText,
  entitlementsText,
  launchAgentText,
} from '../../src/hosting/property-lists.ts'
import { systemdUnit } from '../../src/hosting/systemd.ts'

test('the systemd unit is this', () => {
  const text = systemdUnit({
    executable: '/home/a b/.local/bin/hookline',
    environment: { HOOKLINE_SERVICE: '1', HOOKLINE_DATA_DIR: '/srv/100% "mine"\\x' },
  })

  expect(text).toBe(`[Unit]
Description=Hookline, an iMessage relay
# However often it fails, it is started again.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart="/home/a b/.local/bin/hookline" serve
Environment="HOOKLINE_SERVICE=1"
Environment="HOOKLINE_DATA_DIR=/srv/100%% \\"mine\\"\\\\x"
Restart=always
RestartSec=5
# 78 means that a person is needed: starting again would not help.
RestartPreventExitStatus=78
# A send past its point of no return gets 60 s to end.
TimeoutStopSec=75
KillMode=mixed
UMask=0077
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
# Some twenty times what it needs; a fault must not take the machine with it.
MemoryMax=2G

[Install]
WantedBy=default.target
`)
})

/** A property list as a reader of them has it, and that it is one whole document of XML. */
function readList(text: string): unknown {
  expect(text).toStartWith('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC ')
  expect(text).toEndWith('</plist>\n')
  return plist.parse(text)
}

test('the LaunchAgent is this', () => {
  const executable = '/Volumes/Home/Applications/Hookline.app/Contents/MacOS/hookline'
  const logPath = '/Volumes/Home/Library/Logs/Hookline/relay.log'

  const environment = { HOOKLINE_SERVICE: '1', HOOKLINE_DATA_DIR: 'a & <b>' }
  const text = launchAgentText({ executable, environment, logPath })

  expect(readList(text)).toEqual({
    Label: 'net.hookline.relay',
    AssociatedBundleIdentifiers: ['net.hookline.relay'],
    ProgramArguments: [executable, 'serve'],
    EnvironmentVariables: environment,
    RunAtLoad: true,
    KeepAlive: true,
    LimitLoadToSessionType: 'Aqua',
    ProcessType: 'Interactive',
    ThrottleInterval: 10,
    ExitTimeOut: 75,
    Umask: 0o77,
    SoftResourceLimits: { NumberOfFiles: 8_192 },
    StandardOutPath: logPath,
    StandardErrorPath: logPath,
  })
})

test('the bundle is an app without windows that says why it asks', () => {
  expect(readList(bundleInfoText('1.2.0-rc.1'))).toEqual({
    CFBundleIdentifier: 'net.hookline.relay',
    CFBundleName: 'Hookline',
    CFBundleDisplayName: 'Hookline',
    CFBundleExecutable: 'hookline',
    CFBundlePackageType: 'APPL',
    CFBundleInfoDictionaryVersion: '6.0',
    CFBundleShortVersionString: '1.2.0-rc.1',
    CFBundleVersion: '1.2.0',
    LSMinimumSystemVersion: '13.0',
    LSUIElement: true,
    LSBackgroundOnly: true,
    NSAppleEventsUsageDescription: 'Hookline sends your messages through Messages.',
    NSLocalNetworkUsageDescription: 'Hookline delivers events to programs on your network.',
  })
})

test('the entitlements are those that a Bun executable and Apple events need', () => {
  expect(readList(entitlementsText())).toEqual({
    'com.apple.security.cs.allow-jit': true,
    'com.apple.security.cs.allow-unsigned-executable-memory': true,
    'com.apple.security.automation.apple-events': true,
  })
})
