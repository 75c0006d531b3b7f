import { createRouter, type RouteLocationRaw, type Router, type RouterHistory } from 'vue-router'

/** What the router needs to know of the window. */
export interface Gate {
  /** Resolves when Core has said what this window is. */
  registered: Promise<void>
  /** Whether the window has a Workspace. */
  bound: () => boolean
}

/** makeRouter makes the routes of the page. Until the window is registered no route is entered. */
export function makeRouter(history: RouterHistory, gate: Gate): Router {
  const home = (): RouteLocationRaw => (gate.bound() ? '/chat' : '/')
  const router = createRouter({
    history,
    routes: [
      { path: '/', name: 'launcher', component: () => import('@/launcher/LauncherPage.vue') },
      { path: '/chat/:id?', name: 'chat', component: () => import('@/chat/ChatPage.vue') },
      {
        path: '/settings',
        component: () => import('@/settings/SettingsPage.vue'),
        redirect: () => ({ name: 'preferences', query: {} }),
        children: [
          { path: 'preferences', name: 'preferences', component: () => import('@/settings/PreferencesPage.vue') },
          { path: 'acp-agents', name: 'agents', component: () => import('@/settings/AgentsPage.vue') },
        ],
      },
      { path: '/:rest(.*)*', redirect: home },
    ],
  })
  router.beforeEach(async (to) => {
    await gate.registered
    const fits = gate.bound() === (to.name !== 'launcher')
    return fits ? true : home()
  })
  return router
}
