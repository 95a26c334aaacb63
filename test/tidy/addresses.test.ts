// Addresses in the checkout are those of other projects, of examples, or of the reader's own network. An address of
// this project is put in when a release is made (`--repository`), for until then there is nothing behind it.

import { expect, test } from 'bun:test'

import { sourceFiles, type SourceFile } from '../support/source-files.ts'

const TEXTS = [
  '*.{md,json,toml}',
  '.github/**/*.yml',
  '{migrations,scripts}/**/*',
  'src/**/*.{ts,tsx,css,html,md,py,txt}',
]
/** Beginnings of the addresses that are meant: someone else's, each a reader follows or a program needs. */
const OF_OTHERS = [
  'bun.sh/install',
  'cyclonedx.org/',
  'github.com/appium/WebDriverAgent',
  'github.com/danielpaulus/go-ios',
  'github.com/nats-io/nats-server/',
  'github.com/opencontainers/image-spec',
  'github.com/oven-sh/',
  'github.com/package-url/purl-spec',
  'hc-ping.com/…',
  'jedisct1.github.io/minisign/',
  'semver.org',
  'sources.debian.org/src/glibc/',
  'sqlite.org/fileformat2.html',
  'support.apple.com/',
  'www.apple.com/DTDs/PropertyList-1.0.dtd',
  'www.standardwebhooks.com',
  'www.w3.org/2000/svg',
  // The server of a repository on GitHub, before its name is put behind it.
  'github.com/${',
]
const URL = /https?:\/\/([^\s"'`<>()[\]|\\]+)/gi
/** Places of code, packages and images, which texts name without a scheme as well. */
const FORGE =
  /(?<![\w.-])((?:github|gitlab|bitbucket)\.\w+|codeberg\.org|ghcr\.io|quay\.io|docker\.io|[\w.-]+\.github(?:usercontent)?\.\w+)(?=[/:])[^\s"'`<>()[\]|]*/gi
const EMAIL = /[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}\b/gi
/** Names under which this project could be published. */
const OWN_NAME =
  /\bhookline\/hookline\b(?![./])|pkg:github\/hookline\b|@hookline\/|\bhookline\.(?:com|dev|io|org|net|sh|to|ai)\b/gi
/** Hosts that belong to nobody, or to the reader: names for examples, names and numbers of an own network. */
const NOBODYS =
  /^(?:$|\$|:|\.\.\.|…|%|\{|(?:[\w-]+\.)*(?:example(?:\.(?:com|org|net))?|test|invalid|local|localhost|internal)\b|[\w-]+(?=$|[:/])|\d+\.\d+\.\d+\.\d+|mac-mini\.tail1234\.ts\.net)/i

/** The addresses in a text that are neither someone else's nor nobody's. */
function strayAddresses({ path, text }: SourceFile): readonly string[] {
  const found = [
    ...[...text.matchAll(URL)].map(([, rest = '']) => rest),
    ...[...text.matchAll(FORGE)].map(([address]) => address),
  ].filter(
    (address) =>
      !NOBODYS.test(address) && !OF_OTHERS.some((beginning) => address.startsWith(beginning)),
  )
  const mail = (text.match(EMAIL) ?? []).filter((one) => !NOBODYS.test(one.replace(/^.*@/, '')))
  return [...found, ...mail, ...(text.match(OWN_NAME) ?? [])].map(
    (address) => `${path}: ${address}`,
  )
}

test('no text of the checkout names an address of this project', () => {
  const texts = TEXTS.flatMap(sourceFiles)

  expect(texts.map(({ path }) => path)).toContainValues([
    '.github/workflows/release.yml',
    'README.md',
    'package.json',
    'scripts/install',
    'src/guides/operations.md',
  ])
  expect(texts.flatMap(strayAddresses)).toEqual([])
})

test.each([
  'curl -fsSL https://github.com/ann/hookline/releases/latest/download/install | sh',
  'HTTPS://GitHub.com/Ann/Hookline',
  'import api "github.com/ann/client"',
  'podman pull ghcr.io/ann/hookline:0.1.0',
  'https://raw.githubusercontent.com/ann/hookline/main/scripts/install',
  'Maintainer: Hookline <ann@users.noreply.github.com>',
  'pkg:github/hookline/relay@v0.1.0',
  'see https://docs.hookline.dev/start',
  'npm install @hookline/client',
])('%s is found', (text) => {
  expect(strayAddresses({ path: 'a', text })).not.toEqual([])
})

test.each([
  'curl http://127.0.0.1:4665/api/v1/messages',
  'https://relay.example.com/mcp',
  '`${url}/releases`',
  'http://host.docker.internal:4665',
  '~/.local/share/hookline/hookline.db',
  'actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8',
  'ann@example.com',
])('%s is nobody’s', (text) => {
  expect(strayAddresses({ path: 'a', text })).toEqual([])
})
