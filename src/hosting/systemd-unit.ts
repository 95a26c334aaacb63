/** What the systemd user unit says: which executable, and with which environment. */
export type UnitOrder = {
  readonly executable: string
  readonly environment: Readonly<Record<string, string>>
}

/** The name of the unit. */
export const UNIT = 'hookline.service'

/**
 * What the relay and its children can do without: enforced by system call filters and the cgroup, which
 * work in a user's own manager everywhere. Left out on purpose: whatever needs a namespace of its own
 * (`ProtectSystem`, `PrivateTmp`), since where the kernel denies those to users the unit would not start,
 * and its user may write nowhere else anyway; `MemoryDenyWriteExecute`, because Bun compiles at run time;
 * `SystemCallArchitectures`, for a go-ios of 32 bits. Netlink is how programs learn the machine's addresses.
 */
const HARDENING = [
  'NoNewPrivileges=yes',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  '# Some twenty times what it needs; a fault must not take the machine with it.',
  'MemoryMax=2G',
]

/** The text of the unit. */
export function systemdUnit({ executable, environment }: UnitOrder): string {
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${quoted(`${name}=${value}`)}`,
  )
  return [
    '[Unit]',
    'Description=Hookline, an iMessage relay',
    '# However often it fails, it is started again.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${quoted(executable)} serve`,
    ...variables,
    'Restart=always',
    'RestartSec=5',
    '# 78 means that a person is needed: starting again would not help.',
    'RestartPreventExitStatus=78',
    '# A send past its point of no return gets 60 s to end.',
    'TimeoutStopSec=75',
    'KillMode=mixed',
    'UMask=0077',
    ...HARDENING,
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n')
}

/** As systemd reads it (systemd.syntax(7), systemd.unit(5)): `%` begins a specifier. */
function quoted(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('%', '%%')
  return `"${escaped}"`
}
