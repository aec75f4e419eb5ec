import type { Services } from '../../../service/services.ts'
import type { GatewayContext } from '../builder.ts'
import type { Budget } from './budget.ts'
import { doubtfulSignatureCost, rowCost, scanCost, signatureCost, statementCost } from './prices.ts'

/**
 * The services of one execution. They count the rows that it reads and the signatures that it checks in its budget, and start no
 * statement once the execution has to end.
 */

type Reader = Services['store']['read']

/** Returns the context with metered services, which use the reader `read`. */
export function withMeteredServices<C extends GatewayContext>(
  context: C,
  read: Reader = context.services.store.read,
): C {
  const { services, budget } = context
  const primary = meteredReads(services.store.primary, budget)
  const store = { ...services.store, primary, read: meteredReads(read, budget) }
  const signatures = meteredSignatures(services.signatures, budget)
  return { ...context, services: { ...services, store, signatures } }
}

/** Wraps a reader. A proxy, because an operation uses few of the many reads. */
function meteredReads(reader: Reader, budget: Budget): Reader {
  return new Proxy(reader, {
    get: (target, name) => {
      const read: unknown = Reflect.get(target, name)
      if (typeof read !== 'function') return read
      return (...args: readonly unknown[]) => {
        const refused = refusal(budget)
        if (refused !== undefined) return refused
        const rows: unknown = Reflect.apply(read, target, args)
        return rows instanceof Promise ? rows.then((found) => counted(found, budget)) : rows
      }
    },
  })
}

/**
 * Returns a rejected promise for a read that must not start. It must not throw: if one of several concurrent reads threw synchronously,
 * rejections of the reads started before it would have no handler, and Node ends the process for an unhandled rejection.
 */
function refusal(budget: Budget): Promise<never> | undefined {
  try {
    budget.check()
    return undefined
  } catch (reason) {
    return Promise.reject(reason)
  }
}

function counted<T>(found: T, budget: Budget): T {
  budget.compute(statementCost + rowCost * Math.max(1, rowsIn(found)) + scanCost * scannedIn(found))
  return found
}

/** Returns the number of rows that were scanned and filtered out. */
function scannedIn(found: unknown): number {
  if (typeof found !== 'object' || found === null || !('scanned' in found)) return 0
  return Number(found.scanned)
}

/** Counts rows. A read returns one row, a list of rows or of lists of rows, a map, or an object with such members. */
function rowsIn(found: unknown): number {
  if (found instanceof Map) return found.size
  if (Array.isArray(found)) {
    return Array.isArray(found[0])
      ? found.reduce((sum: number, one) => sum + rowsIn(one), 0)
      : found.length
  }
  if (typeof found !== 'object' || found === null || ArrayBuffer.isView(found)) return 1
  return Object.values(found).reduce(
    (most: number, one) =>
      Array.isArray(one) || one instanceof Map ? Math.max(most, rowsIn(one)) : most,
    1,
  )
}

/** Wraps the signature checker, which is read when it is used: the services of some tests have none. */
function meteredSignatures(
  signatures: Services['signatures'],
  budget: Budget,
): Services['signatures'] {
  return {
    check: async (items) => {
      budget.compute(items.length * signatureCost)
      const verdicts = await signatures.check(items)
      const isDoubtful = verdicts.ok && verdicts.value.includes(false)
      if (isDoubtful) budget.compute(doubtfulSignatureCost)
      return verdicts
    },
  }
}
