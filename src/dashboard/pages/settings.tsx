// The settings that apply while the relay runs, and the options it was started with.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import type { About, BrowserSession } from '../../api/dashboard.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { lazyDialog } from '../components/lazy-page.tsx'
import { Card, Facts, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import { useAbout, useBackups, useBrowsers, useSettings } from '../sources.ts'
import { combine } from '../store.ts'
import { chooseTheme, chosenTheme, THEMES } from '../theme.ts'
import { COMMON } from '../words/common.ts'
import { SETTINGS as WORDS } from '../words/settings.ts'
import { BackupsSection } from './settings-backups.tsx'
import {
  ChoiceSetting,
  Section,
  SwitchSetting,
  TextSetting,
  TimeZoneSetting,
  useSetting,
} from './settings-fields.tsx'
import { MembersSection } from './settings-members.tsx'
import { MoveSection, UpdatesSection } from './settings-restore.tsx'

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
        title={WORDS.title}
        actions={
          <>
            <span class="narrow-only">
              <LinkButton href={href('keys')}>{WORDS.keys}</LinkButton>
            </span>
            <LinkButton href={href('activity')}>{WORDS.activity}</LinkButton>
          </>
        }
      >
        {WORDS.lead}
      </PageHead>
      <div class="settings">
        <GeneralSection />
        <WhenReady of={all} skeleton={skeleton}>
          {({ backups, browsers, about }) => (
            <>
              <NetworkSection about={about} />
              <MessagesSection />
              <AttachmentsSection />
              <BackupsSection backups={backups.data} folder={about.backup_folder} />
              <MoveSection />
              <MembersSection />
              <SecuritySection browsers={browsers.data} about={about} />
              <HealthSection />
              <UpdatesSection version={about.version} />
              <AboutSection about={about} />
            </>
          )}
        </WhenReady>
      </div>
    </>
  )
}

function GeneralSection() {
  const chosen = useSignal(chosenTheme())
  return (
    <Section name="general" words={WORDS.general}>
      <fieldset class="choices">
        <legend>{WORDS.theme}</legend>
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
            <span>{WORDS.themes[theme]}</span>
          </label>
        ))}
      </fieldset>
      <TimeZoneSetting />
    </Section>
  )
}

const WEBHOOK_TARGETS = [
  { value: 'any-private', text: WORDS.targetsAny },
  { value: 'public', text: WORDS.targetsPublic },
] as const

function NetworkSection({ about }: { readonly about: About }) {
  const { address, public_url, trusted_proxies } = about
  return (
    <Section name="network" words={WORDS.network}>
      <StartFacts
        of={[
          [WORDS.address, address, 'HOST, HOOKLINE_PORT'],
          [WORDS.publicUrl, public_url ?? WORDS.none, 'PUBLIC_URL'],
          [WORDS.trustedProxies, trusted_proxies.join(', ') || WORDS.none, 'TRUSTED_PROXIES'],
        ]}
      />
      <ChoiceSetting name="webhook_targets" options={WEBHOOK_TARGETS} />
      <SwitchSetting name="open_metrics" />
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
    <Section name="messages" words={WORDS.messages}>
      <SwitchSetting name="announce_device_messages" />
      <SwitchSetting name="enforce_automation_pause" />
      <ChoiceSetting name="opt_out" options={WORDS.optOuts} />
      <TextSetting
        name="message_retention_days"
        type="number"
        placeholder={WORDS.forever}
        toText={(value) => (value === FOREVER ? '' : value)}
        toValue={(text) => (text === '' ? FOREVER : text)}
        warning={retentionWarning(WORDS.deleteMessages, WORDS.deletesMessages)}
      />
    </Section>
  )
}

function AttachmentsSection() {
  return (
    <Section name="attachments" words={WORDS.attachments}>
      <TextSetting name="attachment_max_mb" type="number" />
      <TextSetting name="attachment_quota_gb" type="number" />
      <TextSetting
        name="attachment_retention_days"
        type="number"
        placeholder={WORDS.asMessages}
        toText={(value) => (value === AS_MESSAGES ? '' : value)}
        toValue={(text) => (text === '' ? AS_MESSAGES : text)}
        warning={retentionWarning(WORDS.deleteFiles, WORDS.deletesFiles)}
      />
    </Section>
  )
}

const AS_MESSAGES = 'as-messages'

const FOREVER = 'forever'

/** A shorter retention deletes things permanently; `words` are about those of a number of days. */
function retentionWarning(title: string, words: (days: number) => string) {
  return (days: string) => {
    // Anything but a number of days deletes nothing: the relay refuses it.
    if (!/^[1-9][0-9]*$/.test(days)) return null
    return { title, confirm: WORDS.delete, words: words(Number(days)) }
  }
}

type SecurityProps = { readonly browsers: readonly BrowserSession[]; readonly about: About }

function SecuritySection({ browsers, about }: SecurityProps) {
  const { session } = useDashboard()
  const { failure, start } = useAction((where: 'here' | 'everywhere') => session.signOut(where))
  return (
    <Section name="security" words={WORDS.security}>
      <ChangePassword isLocked={about.is_password_locked} />
      <div class="stack-tight">
        <h3>{WORDS.sessions(browsers.length)}</h3>
        <ul class="settings-browsers">
          {browsers.map(({ created_at, last_seen_at, is_current, member_name }, index) => (
            <li key={index}>
              <PersonText>
                {is_current ? WORDS.thisBrowser : (member_name ?? WORDS.anotherBrowser)}
              </PersonText>
              <span class="small quiet">
                {WORDS.signedIn}
                <Ago time={created_at} />
                {!is_current && (
                  <>
                    {WORDS.lastSeen}
                    <Ago time={last_seen_at} />
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
        <FailureNote failure={failure} />
        <div class="actions">
          <Button onClick={() => start('here')}>{WORDS.signOut}</Button>
          <Button onClick={() => start('everywhere')}>{WORDS.signOutEverywhere}</Button>
        </div>
      </div>
    </Section>
  )
}

const PASSWORD_VARIABLE = 'HOOKLINE_ADMIN_PASSWORD'

function ChangePassword({ isLocked }: { readonly isLocked: boolean }) {
  const isOpen = useSignal(false)
  if (isLocked) {
    return (
      <div class="stack-tight">
        <h3>{COMMON.password}</h3>
        <p class="field-hint">
          {WORDS.passwordLockedBefore}
          <code>{PASSWORD_VARIABLE}</code>
          {WORDS.passwordLockedAfter}
        </p>
      </div>
    )
  }
  return (
    <div class="stack-tight">
      <h3>{COMMON.password}</h3>
      <p class="field-hint">{WORDS.passwordHint}</p>
      <div class="actions">
        <Button onClick={() => (isOpen.value = true)}>{WORDS.changePassword}</Button>
      </div>
      {isOpen.value && (
        <CHANGE_PASSWORD.View title={WORDS.changePassword} onClose={() => (isOpen.value = false)} />
      )}
    </div>
  )
}

const NO_URL = 'none'

function HealthSection() {
  const { setting, save } = useSetting('heartbeat_url')
  const url = setting === null || setting.value === NO_URL ? null : setting.value
  return (
    <Section name="health" words={WORDS.health}>
      <TextSetting
        name="heartbeat_url"
        type="url"
        placeholder={url ?? 'https://hc-ping.com/…'}
        hint={url === null ? undefined : WORDS.heartbeatCalled(url)}
        // The saved URL may contain a key, so the field holds a new one only.
        toText={() => ''}
      >
        {url !== null && setting?.is_locked === false && (
          <div class="actions">
            <Button onClick={() => void save(NO_URL)}>{WORDS.removeUrl}</Button>
          </div>
        )}
      </TextSetting>
      <p>
        <a href={href('home')}>{WORDS.home}</a>
        {WORDS.homeAfter}
      </p>
      <CodeBlock what={WORDS.command} text="hookline doctor" />
    </Section>
  )
}

function AboutSection({ about }: { readonly about: About }) {
  return (
    <Section name="about" words={WORDS.about}>
      <StartFacts
        of={[
          [WORDS.dataDirectory, about.data_directory, 'DATA_DIR'],
          [WORDS.guide, <a href="/guide">/guide</a>],
          [WORDS.documentation, <a href="/swagger">/swagger</a>],
          [WORDS.license, 'MIT'],
        ]}
      />
    </Section>
  )
}
