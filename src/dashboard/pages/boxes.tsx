// Other machines whose lines the relay uses: list, add, rename, remove.

import { useSignal } from '@preact/signals'

import type { Box, InvitedBox } from '../../api/boxes.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ConfirmButton, DialogButton, NameDialog, ShownOnce } from '../components/dialog.tsx'
import { Badge } from '../components/icon.tsx'
import { BackLink, Card, Facts, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useBoxes, useLines, useRelayState } from '../sources.ts'
import { sizeWords } from '../words/common.ts'
import { lineName, lineState } from '../words/line-states.ts'
import { SHELL } from '../words/shell.ts'

export function BoxesPage() {
  const boxes = useBoxes()
  /** The name in the open Add dialog: of a box to invite again, or empty for a new one. */
  const asked = useSignal<string | null>(null)
  const add = (
    <Button variant="main" icon="plus" onClick={() => (asked.value = '')}>
      Add a box
    </Button>
  )
  const isEmpty = boxes.value?.data.length === 0
  return (
    <>
      <div>
        <BackLink href={href('lines')}>{SHELL.names.lines}</BackLink>
        <PageHead title="Boxes" actions={!isEmpty && add}>
          Other machines whose lines this relay uses. Each runs Hookline as well, and connects to
          this relay's machine. <a href="/guide/several-boxes">How it works</a>
        </PageHead>
      </div>
      <WhenReady of={boxes} kind="card" count={2}>
        {({ data }) =>
          data.length === 0 ? (
            <Card>
              <EmptyState icon="lines" title="No box yet" action={add}>
                Add a Mac to use its lines here too. It joins with one command, and its lines appear
                by themselves.
              </EmptyState>
            </Card>
          ) : (
            <div class="cards">
              {data.map((box) => (
                <BoxCard key={box.id} box={box} onInvite={() => (asked.value = box.name)} />
              ))}
            </div>
          )
        }
      </WhenReady>
      {asked.value !== null && <AddBox named={asked.value} onClose={() => (asked.value = null)} />}
    </>
  )
}

const STATES = {
  online: { text: 'Online', tone: 'ok', icon: 'check' },
  offline: { text: 'Offline', tone: 'bad', icon: 'cross' },
  invited: { text: 'Invited', tone: 'wait', icon: 'clock' },
} as const

function BoxCard({ box, onInvite }: { readonly box: Box; readonly onInvite: () => void }) {
  const { api, notices } = useDashboard()
  const { name, status, version, platform, upgrade, free_bytes: free, last_heard_at: heard } = box
  const lines = useLines().value?.data.filter((line) => line.box?.id === box.id) ?? []
  return (
    <Card title={<PersonText>{name}</PersonText>} actions={<Badge of={STATES[status]} />}>
      <Facts
        of={[
          ['Version', version ?? false],
          ['Upgrade', upgrade === null ? false : upgradeWords(upgrade)],
          ['System', platform ?? false],
          ['Free on its disk', free === null ? false : sizeWords(free)],
          ['Last heard', heard === null ? 'Never' : <Ago time={heard} />],
          ['Lines', lines.length === 0 ? 'None yet' : <LineLinks lines={lines} />],
        ]}
      />
      <BoxFindings box={box} />
      <div class="actions">
        {status === 'invited' && <Button onClick={onInvite}>New command</Button>}
        <DialogButton dialog={(onClose) => <RenameBox {...{ box, onClose }} />}>
          Rename…
        </DialogButton>
        <ConfirmButton
          text="Remove…"
          title="Remove this box?"
          confirm="Remove"
          call={() => api.call('deleteBox', { params: { id: box.id } })}
          onDone={() => notices.done('Removed.')}
        >
          {name} is cut off at once. Its lines stay here, offline, with their conversations: they
          continue when their number is signed in on another machine.
        </ConfirmButton>
      </div>
    </Card>
  )
}

const UPGRADES = {
  waiting: (to: string) => `Waits for its turn to get ${to}`,
  downloading: (to: string) => `Upgrading to ${to}: downloading…`,
  installing: (to: string) => `Upgrading to ${to}…`,
  failed: (to: string) => `The upgrade to ${to} failed.`,
  rolled_back: (to: string) => `${to} did not start; the version before runs again.`,
}

function upgradeWords({ to, state, problem }: NonNullable<Box['upgrade']>): string {
  const words = UPGRADES[state](to)
  return problem === null ? words : `${words} ${problem}`
}

function LineLinks({ lines }: { readonly lines: readonly PhoneLine[] }) {
  return (
    <>
      {lines.map((line) => (
        <div key={line.id}>
          <a href={href('lines', [line.id])}>
            <PersonText>{lineName(line)}</PersonText>
          </a>
          {` · ${lineState(line).text}`}
        </div>
      ))}
    </>
  )
}

const TONES = { error: 'bad', warning: 'warn', info: 'wait' } as const

function BoxFindings({ box }: { readonly box: Box }) {
  const branches = useRelayState().value?.findings ?? []
  const own = branches.filter(({ cause }) => cause.boxes?.includes(box.id) === true)
  return (
    <>
      {own.map(({ cause }) => (
        <Callout key={cause.code} tone={TONES[cause.severity]} title={cause.title}>
          {cause.fix}
        </Callout>
      ))}
    </>
  )
}

const BOX_NAME = {
  hint: 'Letters, digits, ".", "_" and "-". You use it in commands and see it beside its lines.',
  maxLength: 40,
}

function RenameBox({ box, onClose }: { readonly box: Box; readonly onClose: () => void }) {
  const { api, notices } = useDashboard()
  const name = useSignal(box.name)
  const action = useAction(
    () => api.call('renameBox', { params: { id: box.id }, body: { name: name.value.trim() } }),
    () => {
      notices.done('Renamed.')
      onClose()
    },
  )
  return (
    <NameDialog
      {...{ name, action, onClose, ...BOX_NAME }}
      title="Rename this box"
      confirm="Save"
    />
  )
}

/** Asks for a name, then shows the command to run on the new machine. */
function AddBox({ named, onClose }: { readonly named: string; readonly onClose: () => void }) {
  const { api } = useDashboard()
  const name = useSignal(named)
  const invited = useSignal<InvitedBox | null>(null)
  const action = useAction(
    () => api.call('inviteBox', { body: { name: name.value.trim() } }),
    (box) => (invited.value = box),
  )
  if (invited.value !== null) return <JoinCommand invited={invited.value} onClose={onClose} />
  return (
    <NameDialog
      {...{ name, action, onClose, ...BOX_NAME }}
      title="Add a box"
      confirm="Create invitation"
    />
  )
}

type JoinProps = { readonly invited: InvitedBox; readonly onClose: () => void }

function JoinCommand({ invited: { id, name, command, needs_user }, onClose }: JoinProps) {
  const box = useBoxes().value?.data.find((one) => one.id === id)
  const hasJoined = box?.status === 'online'
  return (
    <ShownOnce title={`Run this on ${name}`} onDone={onClose}>
      <p>Install Hookline on that machine first. The command is good once, for 30 minutes.</p>
      {needs_user && (
        <Callout tone="warn">
          First add its user to the configuration of your cluster: hookline boxes config prints it.
        </Callout>
      )}
      <CodeBlock what="Command" text={command} />
      <Callout tone={hasJoined ? 'ok' : 'wait'} role="status">
        {hasJoined ? `${name} has joined.` : `Waiting for ${name}…`}
      </Callout>
    </ShownOnce>
  )
}
