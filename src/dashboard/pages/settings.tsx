// Settings that can be changed while the relay runs, and the options it was started with.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

import type { About, BrowserSession } from '../../api/dashboard.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { DialogButton } from '../components/dialog.tsx'
import { lazyDialog, lazyPart } from '../components/lazy-page.tsx'
import { Card, Facts, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useAbout, useBackups, useBrowsers, useSettings } from '../sources.ts'
import { combine } from '../store.ts'
import { chooseTheme, chosenTheme, THEMES } from '../theme.ts'
import { COMMON, countWords } from '../words/common.ts'
import { SECTIONS } from '../words/settings.ts'
import { BackupsSection, MoveSection, UpdatesSection } from './settings-backups.tsx'
import {
  ChoiceSetting,
  Section,
  SwitchSetting,
  TextSetting,
  TimeZoneSetting,
  useSetting,
} from './settings-fields.tsx'
import { TwoSteps } from './settings-second-factor.tsx'

const MEMBERS = lazyPart(async () => (await import('./settings-members.tsx')).MembersSection)
const SITES = lazyPart(async () => (await import('./settings-sites.tsx')).SitesSection)
const ALERTS = lazyPart(async () => (await import('./settings-alerts.tsx')).AlertsSection)
const CHANGE_PASSWORD = lazyDialog(async () => (await import('./new-password.tsx')).ChangePassword)

export function SettingsPage() {
  const all = combine({
    settings: useSettings(),
    backups: useBackups(),
    browsers: useBrowsers(),
    about: useAbout(),
  })
  const skeleton = (
    <Card>
      <Skeleton kind="line" count={8} />
    </Card>
  )
  return (
    <>
      <PageHead
        title="Settings"
        actions={
          <span class="narrow-only">
            <LinkButton variant="quiet" href={href('connect')}>
              Connect
            </LinkButton>
            <LinkButton variant="quiet" href={href('keys')}>
              API keys
            </LinkButton>
            <LinkButton variant="quiet" href={href('activity')}>
              Activity
            </LinkButton>
          </span>
        }
      >
        Changes are saved automatically.
      </PageHead>
      <div class="settings">
        <SectionLinks />
        <div class="settings-sections">
          <GeneralSection />
          <WhenReady of={all} skeleton={skeleton}>
            {({ backups, browsers, about }) => (
              <>
                <NetworkSection about={about} />
                <MessagesSection />
                <AttachmentsSection />
                <BackupsSection backups={backups.data} folder={about.backup_folder} />
                <MoveSection />
                <MEMBERS.View />
                <SITES.View />
                <ALERTS.View />
                <SecuritySection browsers={browsers.data} about={about} />
                <HealthSection />
                <UpdatesSection version={about.version} />
                <AboutSection about={about} />
              </>
            )}
          </WhenReady>
        </div>
      </div>
    </>
  )
}

/** A section is in view if it is the last whose top is in the upper third of the window. */
const UPPER_SHARE = 1 / 3

/** The section in view, from the first scroll on; null before. */
function useSectionInView(wanted: string | undefined): string | null {
  const shown = useSignal<string | null>(null)
  useEffect(() => {
    const end = new AbortController()
    const look = () => {
      const { innerHeight, scrollY, document } = window
      const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1
      // Sections at the end of the page can't come further up.
      const asked = isAtEnd && wanted !== undefined ? topOf(wanted) : Infinity
      const isAsked = asked >= 0 && asked < innerHeight
      const most = innerHeight * (isAtEnd ? 1 : UPPER_SHARE)
      const passed = Object.keys(SECTIONS).findLast((name) => topOf(name) < most)
      shown.value = isAsked ? (wanted ?? null) : (passed ?? null)
    }
    window.addEventListener('scroll', look, { passive: true, signal: end.signal })
    return () => end.abort()
  }, [wanted])
  return shown.value
}

function topOf(section: string): number {
  const found = document.getElementById(`/settings/${section}`)
  return found?.getBoundingClientRect().top ?? Infinity
}

function SectionLinks() {
  const { router, session } = useDashboard()
  const [wanted] = router.route.value.path
  const [first] = Object.keys(SECTIONS)
  const shown = useSectionInView(wanted) ?? wanted ?? first
  const sections = Object.entries(SECTIONS).filter(
    ([name]) => name !== 'security' || !session.isFake,
  )
  return (
    <nav class="settings-links" aria-label="Sections">
      {sections.map(([name, [title]]) => (
        <a
          key={name}
          href={href('settings', [name])}
          aria-current={name === shown ? 'true' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  )
}

const THEME_WORDS = { system: 'System', light: 'Light', dark: 'Dark' }

function GeneralSection() {
  const chosen = useSignal(chosenTheme())
  return (
    <Section name="general">
      <fieldset class="choices">
        <legend>Theme</legend>
        {THEMES.map((theme) => (
          <label key={theme}>
            <input
              type="radio"
              name="theme"
              checked={chosen.value === theme}
              onChange={() => {
                chooseTheme(theme)
                chosen.value = theme
              }}
            />
            <span>{THEME_WORDS[theme]}</span>
          </label>
        ))}
      </fieldset>
      <TimeZoneSetting />
    </Section>
  )
}

const WEBHOOK_TARGETS = [
  { value: 'any-private', text: 'Any address' },
  { value: 'public', text: 'Public addresses only' },
] as const

function NetworkSection({ about }: { readonly about: About }) {
  const { address, public_url, trusted_proxies } = about
  return (
    <Section name="network">
      <StartFacts
        of={[
          ['Address', address, 'HOST, HOOKLINE_PORT'],
          ['Public URL', public_url ?? 'None', 'PUBLIC_URL'],
          ['Trusted proxies', trusted_proxies.join(', ') || 'None', 'TRUSTED_PROXIES'],
        ]}
      />
      <ChoiceSetting name="webhook_targets" options={WEBHOOK_TARGETS} />
      <SwitchSetting name="open_metrics" />
    </Section>
  )
}

type StartFact = readonly [name: string, value: ComponentChildren, variable?: string]

/** Options of the relay's start, with the environment variable (without `HOOKLINE_`) that sets each. */
function StartFacts({ of }: { readonly of: readonly StartFact[] }) {
  const facts = of.map(([name, value, variable]) => {
    const code = variable && <code class="small quiet">HOOKLINE_{variable}</code>
    return [
      name,
      <>
        {value}
        {code}
      </>,
    ] as const
  })
  return <Facts of={facts} />
}

function MessagesSection() {
  return (
    <Section name="messages">
      <SwitchSetting name="announce_device_messages" />
      <SwitchSetting name="enforce_automation_pause" />
      <ChoiceSetting
        name="opt_out"
        options={[
          { value: 'enforce', text: 'Block messages to them' },
          { value: 'record', text: 'Only record it' },
          { value: 'off', text: 'Do nothing' },
        ]}
      />
      <TextSetting
        name="message_retention_days"
        type="number"
        placeholder="Forever"
        emptyValue="forever"
        warning={retentionWarning(
          'Delete old messages?',
          (days) =>
            `Messages older than ${days} will be deleted within an hour, and others once they are as old. Existing backups still contain them.`,
        )}
      />
    </Section>
  )
}

function AttachmentsSection() {
  return (
    <Section name="attachments">
      <TextSetting name="attachment_max_mb" type="number" />
      <TextSetting name="attachment_quota_gb" type="number" />
      <TextSetting
        name="attachment_retention_days"
        type="number"
        placeholder="As long as messages"
        emptyValue="as-messages"
        warning={retentionWarning(
          'Delete old files?',
          (days) => `Files older than ${days} will be deleted, and others once they are as old.`,
        )}
      />
    </Section>
  )
}

/** Warns before a retention that deletes data; `words` gets the period, such as "30 days". */
function retentionWarning(title: string, words: (days: string) => string) {
  return (days: string) => {
    // The relay refuses anything but a number of days.
    if (!/^[1-9][0-9]*$/.test(days)) return null
    return { title, confirm: 'Delete', words: words(countWords(Number(days), 'day')) }
  }
}

type SecurityProps = { readonly browsers: readonly BrowserSession[]; readonly about: About }

function SecuritySection({ browsers, about }: SecurityProps) {
  const { api, notices, session } = useDashboard()
  const { failure, start } = useAction((where: 'here' | 'everywhere') => session.signOut(where))
  const end = useAction(
    (id: string) => api.call('endSession', { params: { id } }),
    () => notices.done('Signed out.'),
  )
  // Nobody signs in to a fake.
  if (session.isFake) return null
  return (
    <Section name="security">
      <ChangePassword isLocked={about.is_password_locked} />
      <TwoSteps />
      <div class="stack-tight">
        <h3>{countWords(browsers.length, 'active session')}</h3>
        <ul class="settings-browsers">
          {browsers.map(({ id, created_at, last_seen_at, is_current, member_name }) => (
            <li key={id}>
              <PersonText>
                {is_current ? 'This browser' : (member_name ?? 'Another browser')}
              </PersonText>
              <span class="small quiet">
                Signed in <Ago time={created_at} />
                {!is_current && (
                  <>
                    , last seen <Ago time={last_seen_at} />
                  </>
                )}
              </span>
              {!is_current && (
                <Button variant="quiet" onClick={() => end.start(id)}>
                  Sign out
                </Button>
              )}
            </li>
          ))}
        </ul>
        <FailureNote failure={failure ?? end.failure} />
        <div class="actions">
          <Button onClick={() => start('here')}>Sign out this browser</Button>
          <Button onClick={() => start('everywhere')}>Sign out everywhere</Button>
        </div>
      </div>
    </Section>
  )
}

function ChangePassword({ isLocked }: { readonly isLocked: boolean }) {
  return (
    <div class="stack-tight">
      <h3>{COMMON.password}</h3>
      {isLocked ? (
        <p class="field-hint">
          Set by <code>HOOKLINE_ADMIN_PASSWORD</code> or its file. Change it there, and restart the
          relay.
        </p>
      ) : (
        <>
          <p class="field-hint">Changing your password signs out all other browsers.</p>
          <div class="actions">
            <DialogButton
              dialog={(onClose) => (
                <CHANGE_PASSWORD.View title="Change password" onClose={onClose} />
              )}
            >
              Change password
            </DialogButton>
          </div>
        </>
      )}
    </div>
  )
}

const NO_URL = 'none'

function HealthSection() {
  const { setting, save } = useSetting('heartbeat_url')
  const url = setting === null || setting.value === NO_URL ? null : setting.value
  return (
    <Section name="health">
      <TextSetting
        name="heartbeat_url"
        type="url"
        placeholder={url ?? 'https://hc-ping.com/…'}
        hint={url === null ? undefined : `Called every 5 minutes: ${url}. Keys in it are hidden.`}
        // The saved URL may contain a key, so the field is only for a new one.
        isHidden
      >
        {url !== null && setting?.is_locked === false && (
          <div class="actions">
            <Button onClick={() => void save(NO_URL)}>Remove URL</Button>
          </div>
        )}
      </TextSetting>
      <p>
        <a href={href('home')}>Home</a> shows what's wrong and how to fix it. You can also run this
        on the computer itself, even when the relay isn't running:
      </p>
      <CodeBlock what="Command" text="hookline doctor" />
    </Section>
  )
}

function AboutSection({ about }: { readonly about: About }) {
  return (
    <Section name="about">
      <StartFacts
        of={[
          ['Data directory', about.data_directory, 'DATA_DIR'],
          ['Guide', <a href="/guide">/guide</a>],
          ['API documentation', <a href="/swagger">/swagger</a>],
          ['License', 'MIT'],
        ]}
      />
    </Section>
  )
}
