// The texts that systemd and launchd start the relay by, whole.

import { expect, test } from 'bun:test'

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

test('the LaunchAgent is this', () => {
  const text = launchAgentText({
    executable: '/Volumes/Home/Applications/Hookline.app/Contents/MacOS/hookline',
    environment: { HOOKLINE_SERVICE: '1' },
    logPath: '/Volumes/Home/Library/Logs/Hookline/relay.log',
  })

  expect(text).toBe(`${HEAD}
<dict>
  <key>Label</key>
  <string>net.hookline.relay</string>
  <key>AssociatedBundleIdentifiers</key>
  <array>
    <string>net.hookline.relay</string>
  </array>
  <key>ProgramArguments</key>
  <array>
    <string>/Volumes/Home/Applications/Hookline.app/Contents/MacOS/hookline</string>
    <string>serve</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>HOOKLINE_SERVICE</key>
    <string>1</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>LimitLoadToSessionType</key>
  <string>Aqua</string>
  <key>ProcessType</key>
  <string>Interactive</string>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>75</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>SoftResourceLimits</key>
  <dict>
    <key>NumberOfFiles</key>
    <integer>8192</integer>
  </dict>
  <key>StandardOutPath</key>
  <string>/Volumes/Home/Library/Logs/Hookline/relay.log</string>
  <key>StandardErrorPath</key>
  <string>/Volumes/Home/Library/Logs/Hookline/relay.log</string>
</dict>
</plist>
`)
})

test('the bundle is an app without windows that says why it asks', () => {
  expect(bundleInfoText('1.2.0-rc.1')).toBe(`${HEAD}
<dict>
  <key>CFBundleIdentifier</key>
  <string>net.hookline.relay</string>
  <key>CFBundleName</key>
  <string>Hookline</string>
  <key>CFBundleDisplayName</key>
  <string>Hookline</string>
  <key>CFBundleExecutable</key>
  <string>hookline</string>
  <key>CFBundlePackageType</key>
  <string>APPL</string>
  <key>CFBundleInfoDictionaryVersion</key>
  <string>6.0</string>
  <key>CFBundleShortVersionString</key>
  <string>1.2.0-rc.1</string>
  <key>CFBundleVersion</key>
  <string>1.2.0</string>
  <key>LSMinimumSystemVersion</key>
  <string>13.0</string>
  <key>LSUIElement</key>
  <true/>
  <key>LSBackgroundOnly</key>
  <true/>
  <key>NSAppleEventsUsageDescription</key>
  <string>Hookline sends your messages through Messages.</string>
  <key>NSLocalNetworkUsageDescription</key>
  <string>Hookline delivers events to programs on your network.</string>
</dict>
</plist>
`)
})

test('the entitlements are those that a Bun executable and Apple events need', () => {
  expect(entitlementsText()).toBe(`${HEAD}
<dict>
  <key>com.apple.security.cs.allow-jit</key>
  <true/>
  <key>com.apple.security.cs.allow-unsigned-executable-memory</key>
  <true/>
  <key>com.apple.security.automation.apple-events</key>
  <true/>
</dict>
</plist>
`)
})

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">`
