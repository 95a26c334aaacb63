// The settings that apply while the relay runs, and the options it was started with.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import { countWords } from '../../domain/number-words.ts'
import { href } from '../address.ts'
import { fieldError, OF_PASSWORD } from '../api.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import { AccountName, PasswordField } from '../components/form.tsx'
import { Card, Facts, PageHead } from '../components/page.tsx'
import { Ago } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import type { About, BrowserSession } from '../resources.ts'
import { useAbout, useBackups, useBrowsers, useSettings } from '../sources.ts'
import { combine } from '../store.ts'
import { chooseTheme, chosenTheme, THEMES, type Theme } from '../theme.ts'
import { NewPasswordFields, useNewPassword } from './new-password.tsx'
import { BackupsSection } from './settings-backups.tsx'
import {
  ChoiceSetting,
  Section,
  SwitchSetting,
  TextSetting,
  useSetting,
} from './settings-fields.tsx'

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
      <PageHead title="Settings">Changes are saved automatically.</PageHead>
      <div class="settings">
        <GeneralSection />
        <WhenReady of={all} skeleton={skeleton}>
          {({ backups, browsers, about }) => (
            <>
              <NetworkSection about={about} />
              <MessagesSection />
              <AttachmentsSection />
              <BackupsSection backups={backups.data} folder={about.backup_folder} />
              <SecuritySection browsers={browsers.data} about={about} />
              <HealthSection />
              <AboutSection about={about} />
            </>
          )}
        </WhenReady>
      </div>
    </>
  )
}

const THEME_NAMES: Readonly<Record<Theme, string>> = {
  system: 'System',
  light: 'Light',
  dark: 'Dark',
}

function GeneralSection() {
  const chosen = useSignal(chosenTheme())
  return (
    <Section title="General" about="Appearance in this browser.">
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
            <span>{THEME_NAMES[theme]}</span>
          </label>
        ))}
      </fieldset>
    </Section>
  )
}

const WEBHOOK_TARGETS = [
  { value: 'any-private', text: 'Any address, including private networks' },
  { value: 'public', text: 'Public addresses only' },
] as const

function NetworkSection({ about }: { readonly about: About }) {
  const { address, public_url, trusted_proxies } = about
  return (
    <Section title="Network" about="How the relay is reached, and what it may call.">
      <StartFacts
        of={[
          ['Address', address, 'HOST, HOOKLINE_PORT'],
          ['Public URL', public_url ?? 'None', 'PUBLIC_URL'],
          ['Trusted proxies', trusted_proxies.join(', ') || 'None', 'TRUSTED_PROXIES'],
        ]}
      />
      <ChoiceSetting
        name="webhook_targets"
        label="Webhook destinations"
        hint="Apps on your own network, such as n8n or Home Assistant, have private addresses."
        options={WEBHOOK_TARGETS}
      />
      <SwitchSetting
        name="open_metrics"
        label="Public metrics"
        hint="When off, only this computer can read /metrics."
      />
    </Section>
  )
}

type StartFact = readonly [name: string, value: ComponentChildren, variable?: string]

/** Facts decided at the start, with the environment variable (without its prefix) that sets each. */
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
    <Section title="Messages" about="Webhook events, human takeover, and retention.">
      <SwitchSetting
        name="announce_device_messages"
        label="Include messages sent from the device"
        hint="Webhooks also fire for these."
      />
      <SwitchSetting
        name="enforce_automation_pause"
        label="Block API sends during human takeover"
        hint="If off, apps only see the flag."
      />
      <TextSetting
        name="message_retention_days"
        label="Keep messages for (days)"
        type="number"
        placeholder="Forever"
        hint="Older messages are deleted. Leave empty to keep forever."
        toText={(value) => (value === FOREVER ? '' : value)}
        toValue={(text) => (text === '' ? FOREVER : text)}
        warning={retentionWarning}
      />
    </Section>
  )
}

function AttachmentsSection() {
  return (
    <Section title="Attachments" about="Size, storage, and retention of files.">
      <TextSetting
        name="attachment_max_mb"
        label="Largest file (MB)"
        type="number"
        hint="Larger uploads are refused."
      />
      <TextSetting
        name="attachment_quota_gb"
        label="Storage for files (GB)"
        type="number"
        hint="Once it's full, new files aren't kept."
      />
      <TextSetting
        name="attachment_retention_days"
        label="Keep files for (days)"
        type="number"
        placeholder="As long as messages"
        hint="Older files are deleted; their messages stay. Leave empty to keep both as long."
        toText={(value) => (value === AS_MESSAGES ? '' : value)}
        toValue={(text) => (text === '' ? AS_MESSAGES : text)}
        warning={fileRetentionWarning}
      />
    </Section>
  )
}

const AS_MESSAGES = 'as-messages'

/** A shorter retention deletes files permanently. */
function fileRetentionWarning(days: string) {
  if (!/^[1-9][0-9]*$/.test(days)) return null
  return {
    title: 'Delete old files?',
    confirm: 'Delete',
    words: `Files older than ${countWords(Number(days), 'day')} will be deleted, and from then on.`,
  }
}

const FOREVER = 'forever'

/** A shorter retention deletes messages permanently. */
function retentionWarning(days: string) {
  // Anything but a number of days deletes nothing: the relay refuses it.
  if (!/^[1-9][0-9]*$/.test(days)) return null
  return {
    title: 'Delete old messages?',
    confirm: 'Delete',
    words: `Messages older than ${countWords(Number(days), 'day')} will be deleted within an hour, and from then on. Existing backups still contain them.`,
  }
}

type SecurityProps = { readonly browsers: readonly BrowserSession[]; readonly about: About }

function SecuritySection({ browsers, about }: SecurityProps) {
  const { session } = useDashboard()
  const { failure, start } = useAction((where: 'here' | 'everywhere') => session.signOut(where))
  return (
    <Section title="Security" about="Password and sessions.">
      <ChangePassword isLocked={about.is_password_locked} />
      <div class="stack-tight">
        <h3>{countWords(browsers.length, 'active session')}</h3>
        <ul class="settings-browsers">
          {browsers.map(({ created_at, last_seen_at, is_current }, index) => (
            <li key={index}>
              <span>{is_current ? 'This browser' : 'Another browser'}</span>
              <span class="small quiet">
                Signed in <Ago time={created_at} />
                {!is_current && (
                  <>
                    , last seen <Ago time={last_seen_at} />
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
        <FailureNote failure={failure} />
        <div class="actions">
          <Button onClick={() => start('here')}>Sign out</Button>
          <Button onClick={() => start('everywhere')}>Sign out everywhere</Button>
        </div>
      </div>
    </Section>
  )
}

function ChangePassword({ isLocked }: { readonly isLocked: boolean }) {
  const isOpen = useSignal(false)
  if (isLocked) {
    return (
      <div class="stack-tight">
        <h3>Password</h3>
        <p class="field-hint">
          Set by <code>HOOKLINE_ADMIN_PASSWORD</code> or its file. Change it there, and restart the
          relay.
        </p>
      </div>
    )
  }
  return (
    <div class="stack-tight">
      <h3>Password</h3>
      <p class="field-hint">Changing your password signs out all other browsers.</p>
      <div class="actions">
        <Button onClick={() => (isOpen.value = true)}>Change password</Button>
      </div>
      {isOpen.value && <ChangeDialog onClose={() => (isOpen.value = false)} />}
    </div>
  )
}

function ChangeDialog({ onClose }: { readonly onClose: () => void }) {
  const { session, notices } = useDashboard()
  const browsers = useBrowsers()
  const chosen = useNewPassword()
  const current = useSignal('')
  const action = useAction(
    () => session.changePassword(current.value, chosen.password.value),
    () => {
      browsers.refresh()
      notices.done('Password changed.')
      onClose()
    },
  )
  const { failure } = action
  return (
    <ActionDialog
      title="Change password"
      confirm="Change password"
      action={action}
      but={['current', 'password', ...OF_PASSWORD]}
      onClose={onClose}
      onSubmit={() => chosen.isFit() && action.start()}
    >
      <AccountName />
      <PasswordField
        label="Current password"
        isFirst
        bind={current}
        error={fieldError(failure, 'current', ...OF_PASSWORD)}
      />
      <NewPasswordFields chosen={chosen} refusal={fieldError(failure, 'password')} />
    </ActionDialog>
  )
}

const NO_URL = 'none'

function HealthSection() {
  const { setting, save } = useSetting('heartbeat_url')
  const url = setting === null || setting.value === NO_URL ? null : setting.value
  return (
    <Section title="Health" about="Get notified when something is wrong.">
      <TextSetting
        name="heartbeat_url"
        label="Heartbeat URL"
        type="url"
        placeholder={url ?? 'https://hc-ping.com/…'}
        hint={
          url === null
            ? 'Called every 5 minutes while everything works. Your monitoring service alerts you when a call is missing.'
            : `Called every 5 minutes: ${url}. Keys in it are hidden.`
        }
        // The saved URL may contain a key, so the field holds a new one only.
        toText={() => ''}
      >
        {url !== null && setting?.is_locked === false && (
          <div class="actions">
            <Button
              onClick={({ target }) => {
                // The button disappears, so the focus moves on.
                if (target instanceof Element)
                  target.closest('form')?.querySelector('input')?.focus()
                void save(NO_URL)
              }}
            >
              Remove URL
            </Button>
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
    <Section title="About" about="Version and location.">
      <StartFacts
        of={[
          ['Version', about.version],
          ['Data directory', about.data_directory, 'DATA_DIR'],
          ['Guide', <a href="/guide">/guide</a>],
          ['API documentation', <a href="/swagger">/swagger</a>],
          ['License', 'MIT'],
        ]}
      />
    </Section>
  )
}
