// Members, who read and answer: list, add, new sign-in link, remove.

import { useSignal, type Signal } from '@preact/signals'

import type { InvitedMember, Member } from '../../api/owner.ts'
import { Button } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import {
  ActionDialog,
  ConfirmButton,
  DialogButton,
  NameDialog,
  ShownOnce,
} from '../components/dialog.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useRead, useAction, useQuickAction } from '../dashboard.ts'
import { useSites } from '../sources.ts'
import { LimitChoice } from './limit-choice.tsx'
import { Section } from './settings-fields.tsx'

/** The member whose link is shown. Nothing else in the page ever holds the link. */
type Shown = Signal<InvitedMember | null>

export function MembersSection() {
  const members = useRead('listMembers', {}, 'member', 'session')
  const shown: Shown = useSignal(null)
  const { value: invited } = shown
  return (
    <Section name="members">
      <WhenReady of={members} kind="row" count={1}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">Only you can sign in.</p>
          ) : (
            <ul class="settings-browsers">
              {data.map((member) => (
                <MemberRow key={member.id} member={member} shown={shown} />
              ))}
            </ul>
          )
        }
      </WhenReady>
      <div class="actions">
        <DialogButton
          icon="plus"
          dialog={(onClose) => <AddMember shown={shown} onClose={onClose} />}
        >
          Add person
        </DialogButton>
      </div>
      {invited !== null && <MemberLink link={invited.link} onClose={() => (shown.value = null)} />}
    </Section>
  )
}

type RowProps = { readonly member: Member; readonly shown: Shown }

function MemberRow({ member, shown }: RowProps) {
  const { id, name, has_password, last_seen_at, site_ids: limit } = member
  const sites = useSites()
  const { api, notices } = useDashboard()
  const renew = useQuickAction(
    () => api.call('renewMemberLink', { params: { id } }),
    (invited) => (shown.value = invited),
  )
  const names = sites.flatMap((site) => (limit?.includes(site.id) === true ? site.name : []))
  const state = has_password ? 'Not signed in' : 'No password yet'
  return (
    <li>
      <div class="stack-tight">
        <p>
          <PersonText>{name}</PersonText>
        </p>
        <p class="small quiet">
          {last_seen_at === null ? (
            state
          ) : (
            <>
              Last seen <Ago time={last_seen_at} />
            </>
          )}
          {names.length > 0 && <PersonText>{`, only ${names.join(', ')}`}</PersonText>}
        </p>
      </div>
      <div class="actions">
        {sites.length > 0 && (
          <DialogButton dialog={(onClose) => <MemberSites {...{ member, onClose }} />}>
            Sites…
            <span class="visually-hidden">{` of ${name}`}</span>
          </DialogButton>
        )}
        <Button isBusy={renew.isBusy} onClick={() => renew.start()}>
          New link
          <span class="visually-hidden">{` for ${name}`}</span>
        </Button>
        <ConfirmButton
          text="Remove…"
          title="Remove this person?"
          confirm="Remove"
          call={() => api.call('deleteMember', { params: { id } })}
          onDone={() => notices.done('Removed.')}
        >
          {`\u2068${name}\u2069`} is signed out at once and can't sign in again. Messages they sent
          stay.
        </ConfirmButton>
      </div>
    </li>
  )
}

function MemberSites({ member, onClose }: DialogProps & Pick<RowProps, 'member'>) {
  const { api } = useDashboard()
  const chosen = useSignal<readonly string[]>(member.site_ids ?? [])
  const action = useAction(() => {
    const site_ids = chosen.value.length === 0 ? null : [...chosen.value]
    return api.call('updateMember', { params: { id: member.id }, body: { site_ids } })
  }, onClose)
  return (
    <ActionDialog title={`Sites of ${member.name}`} confirm="Save" {...{ action, onClose }}>
      <LimitChoice
        kind="site"
        all="all sites"
        chosen={chosen.value}
        onChange={(ids) => (chosen.value = ids)}
      />
    </ActionDialog>
  )
}

type DialogProps = { readonly onClose: () => void }

function AddMember({ shown, onClose }: DialogProps & Pick<RowProps, 'shown'>) {
  const { api } = useDashboard()
  const name = useSignal('')
  const sites = useSignal<readonly string[]>([])
  const action = useAction(
    () => {
      const limit = sites.value.length > 0 && { site_ids: [...sites.value] }
      return api.call('createMember', { body: { name: name.value.trim(), ...limit } })
    },
    (added) => {
      shown.value = added
      onClose()
    },
  )
  return (
    <NameDialog
      {...{ name, action, onClose }}
      title="Add person"
      confirm="Add person"
      hint="They sign in with it, and their messages show it."
      maxLength={80}
    >
      <LimitChoice
        kind="site"
        all="all sites"
        chosen={sites.value}
        onChange={(ids) => (sites.value = ids)}
      />
    </NameDialog>
  )
}

function MemberLink({ link, onClose }: Pick<InvitedMember, 'link'> & DialogProps) {
  const url = link.lan_url ?? link.url
  return (
    <ShownOnce title="Send them this link" onDone={onClose}>
      <p>
        It works once, for three days. It lets them choose a password. Open it in their browser: in
        yours it would sign you out.
      </p>
      <CodeBlock what="Link" text={url} />
      {new URL(url).hostname === '127.0.0.1' && (
        <Callout tone="warn">
          This link works on this computer only. The guide says how to open the relay to your
          network.
        </Callout>
      )}
    </ShownOnce>
  )
}
