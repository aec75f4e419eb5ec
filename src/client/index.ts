/** The exports of the client package. */

export type { ConnectionOptions } from './connections.ts'
export type { TypedDocument } from './documents.ts'
export type {
  FeedEvent,
  FeedHandover,
  FeedHistoryPoint,
  FeedMode,
  FeedUpdate,
  HexText,
  UpdateClass,
} from './events.ts'
export { type FeedEnded, type FollowOptions, follow } from './follow.ts'
export {
  type Answer,
  type DocumentOptions,
  type Failure,
  type GatewayOptions,
  query,
} from './query.ts'
export { type Scalars, scalars } from './scalars.ts'
export { type SubscribeOptions, subscribe } from './subscribe.ts'
