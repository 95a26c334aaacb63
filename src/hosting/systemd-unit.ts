/** What the systemd user unit says: which executable, and with which environment. */
export type UnitOrder = {
  readonly executable: string
  readonly environment: Readonly<Record<string, string>>
}

/** The name of the unit. */
export const UNIT = 'hookline.service'

/**
 * The text of the unit. No memory protection is asked for: Bun compiles at run time, and dies where
 * `MemoryDenyWriteExecute` forbids it.
 */
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
    'NoNewPrivileges=yes',
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
