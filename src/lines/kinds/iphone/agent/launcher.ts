// How the agent on a phone comes to run: somebody else starts it, or a program of somebody else that we
// run as a child. Everything after that goes over the cable and is the same for all.

export type LauncherName = 'attach' | 'go-ios' | 'xcodebuild'

export type LaunchTroubleCode =
  /** The program that starts the agent is not there. */
  | 'launcher_absent'
  | 'launcher_too_old'
  /** Apple's disk image could not be mounted; mostly there is no internet. */
  | 'image_mount_failed'
  | 'tunnel_failed'
  | 'agent_not_installed'
  /** Its signature is no longer valid, or nobody trusts it on the phone. */
  | 'agent_expired'
  | 'launch_failed'

/** `why` is one sentence without handles, texts or secrets. */
export type LaunchTrouble = { readonly code: LaunchTroubleCode; readonly why: string }

/** An agent that was started: it answers on its port some time later, or it has ended. */
export type Launched = {
  /** Resolves when what keeps the agent alive has ended, with what it said; never rejects. */
  readonly ended: Promise<LaunchTrouble>
  /** Ends it and resolves when nothing of it runs any more. */
  stop(): Promise<void>
}

export type Launcher = {
  readonly name: LauncherName
  /** What has to be there before the agent can start; null where it is. */
  prepare(udid: string, signal: AbortSignal): Promise<LaunchTrouble | null>
  /** Starts the agent, unless somebody else does: then it resolves at once and never ends by itself. */
  launch(udid: string, signal: AbortSignal): Promise<Launched | LaunchTrouble>
  /** Keeps what all phones share; runs until `signal` aborts, and leaves no process behind. */
  run(signal: AbortSignal): Promise<void>
}
