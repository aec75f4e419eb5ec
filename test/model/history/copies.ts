import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { backup } from '../../../src/cli/backup.ts'
import type { Command } from '../../../src/cli/command.ts'
import { exportCommand } from '../../../src/cli/export.ts'
import { importCommand } from '../../../src/cli/import.ts'
import { restore } from '../../../src/cli/restore.ts'
import type { Environment } from '../../../src/config.ts'
import type { SlotIndex } from '../../../src/protocol/primitives.ts'
import { runCommand } from '../../support/run-command.ts'
import { until } from '../../support/until.ts'
import { compareAddresses } from '../answers/addresses.ts'
import { compareAnswers } from '../answers/answers.ts'
import type { Asking } from '../answers/ask.ts'
import { compareChains } from '../answers/chains.ts'
import { compareUpdates } from '../answers/updates.ts'
import type { Archive } from '../archive.ts'
import type { Differences } from '../differences.ts'
import { type Retention, untilPruned } from '../kept.ts'
import { compareWithModel, type Model } from '../model.ts'
import { newestOf } from './still.ts'
import type { HistoryWorld, OpenedGateway } from './world.ts'

/** Other gateways with the ledger of a history: one that follows it, one from a snapshot on, one on an export, one on a backup. */
export interface Copies {
  /** Keeps the ledger of this moment in a backup, and begins a follower with a snapshot of it. */
  keep(): Promise<void>
  /** Ends the follower and starts it again. */
  restartFollower(): Promise<void>
  /** Compares all copies with the model. The clock advances meanwhile. */
  compare(model: Model, differ: Differences): Promise<void>
  close(): Promise<void>
}

/** The options of copies. */
export interface CopiesOptions {
  /** Creates an empty database of the kind of the history. */
  readonly newDatabase: () => Promise<string>
  readonly retention: Retention | undefined
  readonly archive: Archive
}

/** Opens the follower, which follows the gateway of the world from its genesis on. */
export async function openCopies(
  world: HistoryWorld,
  { newDatabase, retention, archive }: CopiesOptions,
): Promise<Copies> {
  const { random } = world
  const followerUrl = `file:${join(world.folder, 'follower.db')}`
  const backupFile = join(world.folder, 'ledger.backup')
  const begunUrl = await newDatabase()
  let begunIn: SlotIndex | undefined
  let follower = await follow()

  function follow(changes: Environment = { DATABASE_URL: followerUrl }): Promise<OpenedGateway> {
    return world.another({
      ...{ LEDGER: 'upstream', UPSTREAM_URLS: world.url, READ_DATABASE_URLS: undefined },
      ...{ PARAMETERS_FILE: undefined, LOG_RETENTION: undefined, BLOCK_RETENTION: undefined },
      ...changes,
    })
  }

  async function keep(): Promise<void> {
    await run(backup, backupFile, world.databaseUrl)
    const begun = await follow({ DATABASE_URL: begunUrl, SNAPSHOT: world.url })
    begunIn = await newestOf(begun.url)
    await begun.close()
  }

  /** Follows from the snapshot to the end of the history. */
  async function compareBegun(model: Model, differ: Differences): Promise<void> {
    if (begunIn === undefined) return
    const begun = await follow({ DATABASE_URL: begunUrl })
    try {
      await compareFollower({ url: begun.url, model: begunWith(model, begunIn), random, differ })
    } finally {
      await begun.close()
    }
  }

  async function restartFollower(): Promise<void> {
    await follower.close()
    follower = await follow()
  }

  async function compare(model: Model, differ: Differences): Promise<void> {
    // A standby that took over has another URL.
    await restartFollower()
    await compareFollower({ url: follower.url, model: unpruned(model), random, differ })
    await follower.close()
    await compareBegun(model, differ)
    const exportFile = join(world.folder, 'ledger.export')
    await run(exportCommand, exportFile, world.databaseUrl)
    const imported = `file:${join(world.folder, 'imported.db')}`
    await run(importCommand, exportFile, imported)
    await compareCopy('imported', imported)
    // Its archive would be that of another branch of the ledger.
    if (!existsSync(backupFile) || retention !== undefined) return
    const restored = await newDatabase()
    await run(restore, backupFile, restored)
    await compareCopy('restored', restored)

    /** Opens a gateway on a copy, lets some slots pass and compares everything. */
    async function compareCopy(what: string, databaseUrl: string): Promise<void> {
      const before = differ.found.length
      const copy = await world.another({ DATABASE_URL: databaseUrl, READ_DATABASE_URLS: undefined })
      try {
        for (let n = 0; n < 2; n++) await world.pass(2)
        await world.untilStill(copy.url)
        const own = await compareWithModel(databaseUrl, { differ, retention, archive })
        if (retention !== undefined) await untilPruned({ url: copy.url, databaseUrl }, own)
        await compareAnswers(copy.url, own, { random, differ })
      } finally {
        await copy.close()
      }
      differ.equal(`differences of the ${what} ledger`, differ.found.length - before, 0)
    }
  }

  return {
    keep,
    restartFollower,
    compare,
    close: () => follower.close(),
  }
}

async function run(command: Command, file: string, databaseUrl: string): Promise<void> {
  const words = command === backup || command === restore ? [file] : ['--file', file]
  const { code, stderr } = await runCommand(command, words, { env: { DATABASE_URL: databaseUrl } })
  if (code !== 0) throw new Error(`${file}: ${stderr}`)
}

/** A follower keeps everything that it has received. */
function unpruned(model: Model): Model {
  const blocks = new Set(model.ledger.blocks.map(({ blockId }) => blockId))
  return { ...model, kept: { after: 0, from: model.ledger.parameters.genesisSlot, blocks } }
}

/** A follower that begins with a snapshot has its unspent outputs, and everything after its slot. */
function begunWith(model: Model, begunIn: SlotIndex): Model {
  const after = model.ledger.commitments.get(begunIn)?.range[1] ?? 0
  const from = model.rows.find(({ seq }) => seq > after)?.milestoneIndex ?? begunIn + 1
  return { ...model, kept: { ...unpruned(model).kept, after, from, begunIn } }
}

async function compareFollower(asking: Asking): Promise<void> {
  const { url, model } = asking
  const { committed } = model.ledger
  await until(async () => (await newestOf(url)) === committed, {
    what: `the follower has slot ${committed}`,
    deadlineMs: 60_000,
  })
  await compareUpdates(asking)
  await compareAddresses(asking)
  await compareChains(asking)
}
