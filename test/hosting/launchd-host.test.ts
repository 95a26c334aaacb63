// What an installation on a Mac does, tool by tool: the bundle is built around the executable and signed,
// and the same certificate signs every later version.

import { expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'

import { readInstallation } from '../../src/hosting/installation.ts'
import { LaunchdHost } from '../../src/hosting/launchd.ts'
import {
  bundleInfoText,
  entitlementsText,
  launchAgentText,
} from '../../src/hosting/property-lists.ts'
import { HASH, LOGIN_KEYCHAIN, Mac, OTHER_KEYCHAIN, PASSWORD } from './mac-rig.ts'
import { NEVER } from './recording-tools.ts'

const SIGNED = [
  '/usr/bin/xattr -cr ~/Applications/.hookline-new/Hookline.app',
  `/usr/bin/security -i < unlock-keychain -p ${PASSWORD} "SIGNING/signing.keychain-db"`,
  '/usr/bin/security list-keychains -d user',
  `/usr/bin/security list-keychains -d user -s ${LOGIN_KEYCHAIN} ${OTHER_KEYCHAIN} SIGNING/signing.keychain-db`,
  '/usr/bin/codesign --force --options runtime --entitlements ' +
    '~/Applications/.hookline-new/entitlements.plist --identifier net.hookline.relay ' +
    `--timestamp=none --sign ${HASH} ~/Applications/.hookline-new/Hookline.app`,
  `/usr/bin/security list-keychains -d user -s ${LOGIN_KEYCHAIN} ${OTHER_KEYCHAIN}`,
  '/usr/bin/security lock-keychain SIGNING/signing.keychain-db',
  '/usr/bin/codesign --verify --strict ' +
    `-R=identifier "net.hookline.relay" and certificate leaf = H"${HASH}" ` +
    '~/Applications/.hookline-new/Hookline.app',
]

test('a first installation makes an identity, whose password stands in no argument, signs the bundle with it, and writes the agent', async () => {
  using mac = new Mac()

  const installed = await mac.install()
  const taken = mac.taken()

  expect(installed).toEqual({ isChanged: true, warnings: [] })
  expect(taken).toEqual([
    '/usr/bin/openssl req -x509 -newkey rsa:2048 -nodes -sha256 -days 7300 ' +
      '-config SIGNING/certificate-request.cnf -keyout SIGNING/key.pem -out SIGNING/certificate.pem',
    '/usr/bin/openssl pkcs12 -export -name Hookline on this Mac -inkey SIGNING/key.pem ' +
      '-in SIGNING/certificate.pem -out SIGNING/identity.p12 -keypbe PBE-SHA1-3DES ' +
      '-certpbe PBE-SHA1-3DES -macalg sha1 -passout file:SIGNING/keychain-password',
    `/usr/bin/security -i < create-keychain -p ${PASSWORD} "SIGNING/signing.keychain-db"`,
    '/usr/bin/security -i < set-keychain-settings "SIGNING/signing.keychain-db"',
    `/usr/bin/security -i < unlock-keychain -p ${PASSWORD} "SIGNING/signing.keychain-db"`,
    `/usr/bin/security -i < import "SIGNING/identity.p12" -f pkcs12 -P ${PASSWORD} ` +
      '-k "SIGNING/signing.keychain-db" -T /usr/bin/codesign',
    '/usr/bin/security -i < set-key-partition-list -S apple-tool:,apple:,codesign: -s ' +
      `-k ${PASSWORD} "SIGNING/signing.keychain-db"`,
    ...SIGNED,
  ])
  expect(mac.signed).toEqual([
    {
      text: 'version one',
      info: bundleInfoText('1.2.3'),
      entitlements: entitlementsText(),
      keychains: [LOGIN_KEYCHAIN, OTHER_KEYCHAIN, `${mac.signing}/signing.keychain-db`],
    },
  ])
  const logPath = `${mac.home}/Library/Logs/Hookline/relay.log`
  const environment = { HOOKLINE_SERVICE: '1', HOOKLINE_EXPECTS_DATABASE: '1' }
  expect(readFileSync(mac.agentPath, 'utf8')).toBe(
    launchAgentText({ executable: mac.inBundle, environment, logPath }),
  )
  expect(existsSync(`${mac.home}/Library/Logs/Hookline`)).toBe(true)
  const calls = taken.map((call) => call.split(' < '))
  expect(calls.filter(([args = '']) => args.includes(PASSWORD))).toEqual([])
  expect(calls.filter(([, input = '']) => input.includes(PASSWORD)).length).toBe(5)
  // The bundle can be run, and nothing of its making is left.
  expect(statSync(mac.inBundle).mode & 0o777).toBe(0o755)
  expect(readdirSync(`${mac.home}/Applications`)).toEqual(['Hookline.app'])
  expect(readdirSync(mac.signing).sort()).toEqual([
    'certificate-request.cnf',
    'certificate-sha1',
    'keychain-password',
    'signing.keychain-db',
  ])
  expect(statSync(mac.signing).mode & 0o777).toBe(0o700)
  expect(statSync(`${mac.signing}/keychain-password`).mode & 0o777).toBe(0o600)
})

test('an installation is current until its agent or the folder of its log is another', async () => {
  using mac = new Mac()
  await mac.install()
  const isCurrent = () => mac.host.isCurrent(mac.source, mac.dataDir)
  const logs = `${mac.home}/Library/Logs/Hookline`

  const states = [await isCurrent()]
  rmSync(logs, { recursive: true })
  states.push(await isCurrent())
  await mac.install()
  states.push(await isCurrent())
  writeFileSync(mac.agentPath, 'of long ago')
  states.push(await isCurrent())

  expect(states).toEqual([true, false, true, false])
})

test('a newer executable is signed by the same certificate', async () => {
  using mac = new Mac()
  await mac.install()
  mac.taken()

  writeFileSync(mac.source, 'version two')
  const { isChanged } = await mac.install()

  expect(isChanged).toBe(true)
  expect(mac.taken()).toEqual(SIGNED)
  expect(readFileSync(mac.inBundle, 'utf8')).toBe('version two')
})

test('what is installed already is neither copied nor signed again, also by the bundle itself', async () => {
  using mac = new Mac()
  await mac.install()
  mac.taken()

  const again = await mac.install()
  const byItself = await mac.install({ executable: mac.inBundle })
  const idle = mac.taken()
  rmSync(mac.bundle, { recursive: true })
  const anew = await mac.install()

  expect([again.isChanged, byItself.isChanged, idle]).toEqual([false, false, []])
  expect(readInstallation(mac.dataDir)?.source.path).toBe(mac.source)
  // A person threw it away.
  expect([anew.isChanged, readFileSync(mac.inBundle, 'utf8')]).toEqual([true, 'version one'])
})

test("the owner's own identity signs, and is kept for later versions", async () => {
  using mac = new Mac()
  await mac.install({ codesignIdentity: 'Developer ID Application: Ann (TEAM)' })
  const first = mac.taken()
  writeFileSync(mac.source, 'version two')

  await mac.install()

  expect(first).toEqual([
    '/usr/bin/xattr -cr ~/Applications/.hookline-new/Hookline.app',
    '/usr/bin/codesign --force --options runtime --entitlements ' +
      '~/Applications/.hookline-new/entitlements.plist --identifier net.hookline.relay ' +
      '--timestamp=none --sign Developer ID Application: Ann (TEAM) ' +
      '~/Applications/.hookline-new/Hookline.app',
    '/usr/bin/codesign --verify --strict ~/Applications/.hookline-new/Hookline.app',
  ])
  expect(mac.taken()).toEqual(first)
})

for (const failing of ['codesign --force', 'codesign --verify', 'xattr -cr']) {
  test(`where "${failing}" fails, the bundle of before stays, and so do the keychains`, async () => {
    using mac = new Mac()
    await mac.install()
    writeFileSync(mac.source, 'version two')
    mac.failing = failing

    await expect(mac.install()).rejects.toThrow('it does not work (/usr/bin/')

    expect(readFileSync(mac.inBundle, 'utf8')).toBe('version one')
    expect(readdirSync(`${mac.home}/Applications`)).toEqual(['Hookline.app'])
    expect(mac.keychains).toEqual([LOGIN_KEYCHAIN, OTHER_KEYCHAIN])
    expect(readInstallation(mac.dataDir)?.source.sizeBytes).toBe('version one'.length)
  })
}

test('an abort while codesign works still gives the owner his keychains back', async () => {
  using mac = new Mac()
  await mac.install()
  writeFileSync(mac.source, 'version two')
  const stop = new AbortController()
  const { run, calls } = mac.tools
  const order = {
    executable: mac.source,
    dataDir: mac.dataDir,
    version: '2',
    codesignIdentity: null,
  }
  const impatient = new LaunchdHost(
    mac.tools.machine({
      run: async (one, signal) => {
        if (one.path === '/usr/bin/codesign') stop.abort()
        return run(one, signal)
      },
      home: mac.home,
      uid: 501,
    }),
  )
  calls.length = 0

  await expect(impatient.install(order, stop.signal)).rejects.toThrow('cannot be run (aborted)')

  expect(mac.keychains).toEqual([LOGIN_KEYCHAIN, OTHER_KEYCHAIN])
  expect(mac.taken().at(-1)).toBe('/usr/bin/security lock-keychain SIGNING/signing.keychain-db')
})

test('a list of keychains that cannot be read is not replaced, and one that a crash left goes from it', async () => {
  using mac = new Mac()
  mac.keychains = []
  await expect(mac.install()).rejects.toThrow("Cannot read this user's list of keychains.")
  const replacing = mac.taken().filter((call) => call.includes(' -d user -s '))
  mac.keychains = [LOGIN_KEYCHAIN, `${mac.signing}/signing.keychain-db`]

  await mac.install()

  expect([replacing, mac.keychains]).toEqual([[], [LOGIN_KEYCHAIN]])
})

test('an identity that was left half made is made again', async () => {
  using mac = new Mac()
  mac.failing = 'security import'
  await expect(mac.install()).rejects.toThrow('Cannot make a keychain for signing')
  const left = readdirSync(mac.signing).sort()
  mac.failing = ''

  await mac.install()

  expect(left).toEqual(['certificate-request.cnf', 'keychain-password', 'signing.keychain-db'])
  expect(mac.signed.length).toBe(1)
})

test('a data directory elsewhere is passed to the agent; the identity stays the one of the user', async () => {
  using mac = new Mac()
  const dataDir = mac.folder.file('elsewhere')
  mkdirSync(dataDir)
  const order = { executable: mac.source, dataDir, version: '1', codesignIdentity: null }

  await mac.host.install(order, NEVER)

  expect(readFileSync(mac.agentPath, 'utf8')).toContain(
    `<key>HOOKLINE_DATA_DIR</key>\n    <string>${dataDir}</string>`,
  )
  expect(existsSync(`${mac.signing}/certificate-sha1`)).toBe(true)
  expect(readInstallation(dataDir)?.version).toBe('1')
})

test('it is installed until it is removed; the identity stays for the next time', async () => {
  using mac = new Mac()
  const isInstalled = async () => (await mac.host.state(NEVER)).isInstalled
  const states = [await isInstalled()]
  await mac.install()
  states.push(await isInstalled())

  await mac.host.uninstall(mac.dataDir, NEVER)

  expect([...states, await isInstalled()]).toEqual([false, true, false])
  expect([existsSync(mac.agentPath), existsSync(mac.bundle)]).toEqual([false, false])
  expect(readInstallation(mac.dataDir)).toBeNull()
  expect(existsSync(`${mac.signing}/certificate-sha1`)).toBe(true)
})

test('a process beside the service is in a session of its own', async () => {
  using mac = new Mac()

  await mac.host.startDetached({ path: '/bin/new', args: ['upgrade'], output: '/tmp/out' })

  expect(mac.tools.taken().at(-1)).toEqual(['detached', '/bin/new', 'upgrade', '> /tmp/out'])
})
