import type { RawTx } from '../client.ts'
import type { InboxStatements, TakenPlaces } from './statements.ts'

/** The statements on the writer's row that the inbox makes; they differ in how a database writes parameters. */
export function inboxStatements(numbered: (text: string) => string): InboxStatements {
  const take = numbered(`UPDATE writer SET "nextInbox" = "nextInbox" + ? WHERE id = 1
    RETURNING "openFrom", "nextInbox"`)
  const raise = numbered('UPDATE writer SET "openFrom" = ? WHERE id = 1 AND "openFrom" < ?')

  async function takePlaces(tx: RawTx, count: number): Promise<TakenPlaces | undefined> {
    const [row] = await tx.$queryRawUnsafe<TakenPlaces[]>(take, count)
    return row
  }

  async function raiseOpenFrom(tx: RawTx, openFrom: number): Promise<void> {
    await tx.$executeRawUnsafe(raise, BigInt(openFrom), BigInt(openFrom))
  }

  return { takePlaces, raiseOpenFrom, numbered }
}
