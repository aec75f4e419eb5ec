import type { RawTx } from '../client.ts'
import type { AllocatedPositions, InboxStatements } from './statements.ts'

/** Creates the statements of the inbox on the writer's row. `numbered` writes parameters as the database has them. */
export function inboxStatements(numbered: (text: string) => string): InboxStatements {
  const take = numbered(`UPDATE writer SET "nextInbox" = "nextInbox" + ? WHERE id = 1
    RETURNING "openFrom", "nextInbox"`)
  const raise = numbered('UPDATE writer SET "openFrom" = ? WHERE id = 1 AND "openFrom" < ?')

  async function allocatePositions(
    tx: RawTx,
    count: number,
  ): Promise<AllocatedPositions | undefined> {
    const [row] = await tx.$queryRawUnsafe<AllocatedPositions[]>(take, count)
    return row
  }

  async function raiseOpenFrom(tx: RawTx, openFrom: number): Promise<void> {
    await tx.$executeRawUnsafe(raise, BigInt(openFrom), BigInt(openFrom))
  }

  return { allocatePositions, raiseOpenFrom, numbered }
}
