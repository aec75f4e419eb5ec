import type { Feature } from './features.ts'
import type { Output } from './outputs.ts'
import { byNode, bySdk, type MetadataOrder, sortEntries } from './schema/metadata-map.ts'
import { featuresOf, immutableFeaturesOf } from './score.ts'

/**
 * The two orders of metadata entries (codec reference 19, row 1). JSON does not show which order the bytes have; a proof, an
 * id or a signature over the bytes does.
 */

/** A feature with its metadata entries in a fixed order, so that features can be compared. */
export function comparable(feature: Feature | undefined): Feature | undefined {
  return feature && inOrder(feature, bySdk)
}

/** The output with all metadata entries in the order of the node. */
export function inNodeOrder(output: Output): Output {
  return isOrderOpen(output) ? withFeatures(output, (feature) => inOrder(feature, byNode)) : output
}

/** The output with all metadata entries in the order of the official SDK. */
export function inSdkOrder(output: Output): Output {
  return isOrderOpen(output) ? withFeatures(output, (feature) => inOrder(feature, bySdk)) : output
}

/** Whether the two orders of some metadata differ, so that JSON does not determine the bytes of the output. */
export function isOrderOpen(output: Output): boolean {
  return featuresOf(output).some(isOpen) || immutableFeaturesOf(output).some(isOpen)
}

/**
 * The possible outputs of an output in JSON: each metadata map whose two orders differ occurs in both orders. The first
 * result has the order of the SDK in all maps. An output has at most three maps, so there are at most eight results.
 */
export function readingsOf(output: Output): readonly Output[] {
  const open = [...featuresOf(output), ...immutableFeaturesOf(output)].filter(isOpen)
  return Array.from({ length: 2 ** open.length }, (_, choice) =>
    withFeatures(output, (feature) => {
      const place = open.indexOf(feature)
      if (place === -1) return feature
      return inOrder(feature, (choice >> place) % 2 === 0 ? bySdk : byNode)
    }),
  )
}

function withFeatures(output: Output, change: (feature: Feature) => Feature): Output {
  const changed: Record<string, readonly Feature[]> = {}
  if ('features' in output) changed.features = output.features.map(change)
  if ('immutableFeatures' in output)
    changed.immutableFeatures = output.immutableFeatures.map(change)
  return { ...output, ...changed }
}

function inOrder<T extends Feature>(feature: T, order: MetadataOrder): T {
  if (!('entries' in feature)) return feature
  return { ...feature, entries: sortEntries(feature.entries, order) }
}

function isOpen(feature: Feature): boolean {
  if (!('entries' in feature)) return false
  const sorted = sortEntries(feature.entries, bySdk)
  return sorted.some(({ key }, i) => i > 0 && byNode(sorted[i - 1]?.key ?? '', key) > 0)
}
