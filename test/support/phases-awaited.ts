import { turnsAwaited } from '../../src/lib/turns.ts'

/** Returns the number of event loop phases in which each client waited for its turn during `work`. */
export async function phasesAwaited(
  clients: readonly string[],
  work: () => Promise<void>,
): Promise<readonly number[]> {
  const phases = clients.map(() => 0)
  let isOver = false
  const look = () => {
    for (const [i, client] of clients.entries()) {
      if (turnsAwaited(client) > 0) phases[i] = (phases[i] ?? 0) + 1
    }
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await work()
  isOver = true
  return phases
}
