import type { Services } from '../../service/services.ts'
import type { Budget } from './budget.ts'
import type { GatewayContext } from './builder.ts'
import { doubtfulSignatureCost, rowCost, signatureCost, statementCost, walkCost } from './prices.ts'

/**
 * The services of one execution: rows that it reads and signatures that it checks are counted in its budget, and no statement
 * begins once it has to end.
 */

type Reader = Services['store']['read']

/** The same context with counted services, which read by `read`. */
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

/** By a proxy, for an operation uses few of the many reads. */
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
 * The failure of a read that must not begin. It is a promise as what the read gives: where reads are begun side by side, one that threw
 * at once would leave the failures of those before it to nothing, and Node ends the process for a failure that nothing handles.
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
  budget.compute(statementCost + rowCost * Math.max(1, rowsIn(found)) + walkCost * walkedIn(found))
  return found
}

/** The rows that were looked at and left out. */
function walkedIn(found: unknown): number {
  if (typeof found !== 'object' || found === null || !('walked' in found)) return 0
  return Number(found.walked)
}

/** A read gives one row, a list of rows or of lists of them, a map, or an object with such members. */
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

/** Services of some tests have none. */
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
